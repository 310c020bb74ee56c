-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.stop_clock() \gset
select t.session(name => 'w1', lease => '1 h') as s \gset
select pawl.create_workflow('test.flow', max_attempts => 1), pawl.create_workflow('timed.flow', run_timeout => '10 s') \gset
create function who(run uuid) returns text language sql as $$
    select string_agg(concat_ws('=', h.what, h.who), ' ' order by h.at, h.what desc) from pawl.history(run) h where h.what in ('started', 'ended')
$$;
select run_id as r, fence as f from t.held(:s) \gset
select is(who(:'r'), 'started=w1', 'the worker that executes it');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'it ends');
select is(who(:'r'), 'started=w1 ended=w1', 'the worker that ended it');
select run_id as r from t.held(:s) \gset
select is((select answer from pawl.kill(array[:'r']::uuid[], by => 'dora')), 'ok', 'an operator kills one');
select is(who(:'r'), 'started=w1 ended=dora', 'who is the operator then');
select t.run() as r \gset
select is((select answer from pawl.cancel(array[:'r']::uuid[], by => 'dora')) || ' ' || who(:'r'), 'ok ended=dora', 'so it is for a cancel of a run that nobody started');
select run_id as r from t.held(:s, 'timed.flow') \gset
select t.later('11 s', :s) \gset
select is(who(:'r'), 'started=w1 ended=pawl', 'the engine ends a run at its time limit');
-- A lost lease names the first worker; a later execution would hide it.
select t.session(name => 'w2', lease => '10 s') as s2 \gset
select run_id as r, fence as f from t.held(:s2) \gset
select t.later('11 s', :s) \gset
select c.fence as f from pawl.claim(:s, 1) c where c.run_id = :'r' \gset
select is(t.answer(:s, :'r', :f, 'fail', null, '{}'), 'ok', 'another worker goes on');
select is(who(:'r'), 'started=w2 ended=w1', 'the first one is still known');
select * from finish();
