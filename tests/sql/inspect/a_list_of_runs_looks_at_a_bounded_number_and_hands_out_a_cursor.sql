-- SPDX-License-Identifier: Apache-2.0
-- Runs with many rounds must not hide older ones either.
select plan(4);
select t.session() as s \gset
select pawl.create_workflow('rare.flow'), pawl.create_workflow('busy.flow') \gset
select run_id as rare from pawl.trigger('rare.flow') \gset
select pawl.test_clock_advance('1 s') \gset
insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant)
select i.id, r, 'e', 100, q.queue_id, 1, 1, pawl.now(), pawl.now(), false, false, ''
from (select pawl._id_make(pawl.now() + g * interval '1 ms') as id from generate_series(1, 600) g) i, generate_series(1, 3) r, pawl_data.queue q where q.name = 'busy.flow';
select is((select string_agg(run_id::text, ' ') from pawl.list_runs('rare.flow')), :'rare', 'a run behind six hundred of three rounds each is found');
insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant)
select pawl._id_make(pawl.now() + g * interval '0.1 ms'), 1, 's', 100, q.queue_id, 1, 1, pawl.now(), pawl.now(), false, false, '' from generate_series(1, 9500) g, pawl_data.queue q where q.name = 'busy.flow';
select count(*) as n, count(run_id) as runs, min(next_cursor::text) as cursor from pawl.list_runs('rare.flow') \gset
select is(:n || ' ' || :runs, '1 0', 'after ten thousand ids it stops, with a row that only says where to go on');
select is((select string_agg(run_id::text, ' ') from pawl.list_runs('rare.flow', cursor => :'cursor')), :'rare', 'and there the run is found');
select is((select string_agg(run_id::text, ' ') from pawl.list_runs(only_status => 'QUEUED')), :'rare', 'one that lives is found at once behind any number that have ended');
select * from finish();
