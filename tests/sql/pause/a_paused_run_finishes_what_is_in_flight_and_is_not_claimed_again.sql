-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.pause(array[:'r'::uuid], 'look', 'ann')), 'ok', 'paused while held');
select is(t.state(:'r'), 'RUNNING', 'what is in flight goes on');
select is((select notice from pawl.heartbeat(:s) where run_id = :'r'), 'paused', 'the worker is told');
select is((select answer from pawl.step(:s, :'r', :f, 'one', '1')), 'ok', 'its step is recorded');
select is((select answer from pawl.release(:s, :'r', :f)), 'ok', 'it lets go');
select is(t.state(:'r'), 'PAUSED operator', 'and the run is paused');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'nobody can claim it');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'already', 'paused twice: already');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'already', 'resumed twice: already');
select is((select record #>> '{steps,0,name}' from t.one(:s)), 'one#1', 'it goes on with its record');
select is((select string_agg(what || ' ' || who, ', ') from pawl.history(:'r') where what in ('pause', 'resume')), 'pause ann, resume ' || session_user, 'the history says who');
select * from finish();
