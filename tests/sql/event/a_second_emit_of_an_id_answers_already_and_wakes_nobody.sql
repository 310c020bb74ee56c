-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select pawl.make_id() as e \gset
select is((select answer from pawl.emit('paid', '{"n": 1}', id => :'e')), 'ok', 'first');
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'paid')), 'ok', 'a run takes it');
select is((select value ->> 'state' from pawl.wait_event(:s, :'r', :f, 'w2', 'paid')), 'PAUSED', 'and waits for the next');
select is((select answer || ' ' || woken from pawl.emit('paid', '{"n": 1}', id => :'e')), 'already 0', 'the same id again');
select is((select count(*) from pawl_data.event), 1::bigint, 'one event is stored');
select throws_ok($$select * from pawl.emit('paid', id => gen_random_uuid())$$, 'PW003', null, 'an id that is not of our layout is refused');
select * from finish();
