-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select t.session('{test.*}', name => 'live', lease => '1 hour') as live \gset
select t.session(name => 'lost', lease => '5 s') as lost \gset
select t.session(name => 'gone', lease => '1 hour') as gone \gset
select t.session(name => 'idle', lease => '1 hour') as idle \gset
select t.session(name => 'drain', lease => '1 hour') as drain \gset
select run_id as r from t.held(:live) \gset
select pawl.leave(:gone) \gset
select pawl.rest(:idle) \gset
select is(pawl.drain_worker(:drain, 'ann'), 'ok', 'drained');
select is(pawl.drain_worker(:drain), 'already', 'twice: already');
select pawl.test_clock_advance('6 s') \gset
select is((select string_agg(worker || ' ' || state || ' ' || held, ', ' order by worker) from pawl.list_workers()), 'drain draining 0, idle idle 0, live live 1, lost lost 0', 'those that have not gone');
select is((select state || ' ' || ended_why from pawl.list_workers(true) where worker = 'gone'), 'ended left', 'and those that have');
select is((select handles::text from pawl.list_workers() where worker = 'live'), '{test.*}', 'with what they handle');
select is((select notice from pawl.heartbeat(:drain)), 'drain', 'a drained one is told');
select pawl.heartbeat(:live, null, true) \g /dev/null
select is((select state from pawl.list_workers() where worker = 'live'), 'starved', 'one whose program takes no runs');
select pawl.heartbeat(:live) \g /dev/null
select is((select state from pawl.list_workers() where worker = 'live'), 'starved', 'still, after a heartbeat that does not mention it');
select pawl.heartbeat(:live, null, false) \g /dev/null
select is((select state from pawl.list_workers() where worker = 'live'), 'live', 'until it does again');
select pawl.rest(:live) \gset
select is((select state from pawl.list_workers() where worker = 'live'), 'live', 'one that rests while it holds a run is not idle');
select is((select l from regexp_split_to_table(pawl.prometheus(), E'\n') l where l like 'pawl_workers_idle %'), 'pawl_workers_idle 1', 'nor does it count as idle');
select t.run() as r2 \gset
select is((select count(*) from pawl.claim(:drain, 10)), 0::bigint, 'and given nothing more');
select throws_ok('select pawl.drain_worker(1)', 'PW001', null, 'an unknown session');
select * from finish();
