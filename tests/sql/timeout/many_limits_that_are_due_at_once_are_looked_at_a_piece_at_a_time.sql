-- SPDX-License-Identifier: Apache-2.0
-- Counted in pages of tables that a round of housekeeping reads: it must not read every run, nor every limit that is due.
select plan(6);

select t.stop_clock();
select pawl.create_workflow('many.v') \g /dev/null
select count(*) as n from pawl.trigger_many('many.v', array(select '{}'::json from generate_series(1, 6000)), delay => '1 day') \gset
insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, created_at, due_at)
select d.run_id, 0, 'timeout', 'l', 0, '', pawl.now(), pawl.now() + d.n * interval '1 min'
from (select t.run_id, row_number() over (order by t.run_id) as n from pawl_data.task t where t.task_no = 0) d;
analyze pawl_data.task, pawl_data.wait;

create function pages() returns bigint language sql volatile as $$
    select sum(pg_stat_get_xact_blocks_fetched(c))::bigint from unnest(array['pawl_data.task', 'pawl_data.task_pkey', 'pawl_data.wait']::regclass[]) c
$$;
create function cost(by interval, out ended bigint, out pages bigint) language plpgsql as $$
begin
    perform pawl.test_clock_advance(by);
    ended := (select count(*) from pawl_data.run);
    pages := pages();
    perform pawl._enforce_limits(pawl.now(), 5, null, false);
    pages := pages() - pages;
    ended := (select count(*) from pawl_data.run) - ended;
end
$$;
-- As claim has it.
set plan_cache_mode = force_generic_plan;
select ended as e, pages as p from cost('30 s') \gset
select is(:e, 0, 'nothing is due');
select cmp_ok(:p, '<', 20, 'and little is read');
select ended as e, pages as p from cost('1 min') \gset
select is(:e, 1, 'one is due');
select cmp_ok(:p, '<', 100, 'nearly alone it is looked at');
select ended as e, pages as p from cost('12 hours') \gset
select is(:e, 5, 'many are due, and some end');
select cmp_ok(:p, '<', 400, 'nearly alone they are looked at');

select * from finish();
