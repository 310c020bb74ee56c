-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.create_workflow('many.v') as c \gset
select count(*) from pawl.trigger_many('many.v', array(select '{}'::json from generate_series(1, 1200))) \gset
create temporary table claimed as select run_id, fence from pawl.claim(:s, 1000);
insert into claimed select run_id, fence from pawl.claim(:s, 1000);
select is((
    select string_agg(distinct c.answer, ' ')
    from (
        select array_agg(d.run_id order by d.run_id, n) as runs, array_agg(d.fence order by d.run_id, n) as fences,
               array_agg((array['event', 'suspend'])[n] order by d.run_id, n) as kinds,
               array_agg((array['e#1', null])[n] order by d.run_id, n) as names,
               array_agg((array[1, null])[n] order by d.run_id, n) as seqs,
               array_agg((array['{"topic": "go", "timeout_ms": 60000}', null])[n] order by d.run_id, n) as options
        from claimed d, generate_series(1, 2) n
        group by d.run_id > (select percentile_disc(0.5) within group (order by run_id) from claimed)
    ) i
    cross join lateral pawl.commit(:s, i.runs, i.fences, i.kinds, i.names, null, i.seqs, null, null, i.options) c), 'ok', '1,200 runs wait for an event');
select is((select woken from pawl.emit('go', '1')), 1000, 'it comes in time, and wakes 1,000 of them in one call');
-- Others come first.
update pawl_data.delivery set due_at = pawl.now() + interval '10 min';
select t.later('2 min', :s) as c \gset
select setval('pawl_data.housekeeping_clock', 0) as c \gset
select count(*) from pawl.claim(:s, 1000) \gset
select setval('pawl_data.housekeeping_clock', 0) as c \gset
select count(*) from pawl.claim(:s, 1000) \gset
select is((select string_agg(distinct coalesce(output::text, error::text), ' ') || ' ' || count(*) from pawl_data.step where name = 'e#1'), '1 1200',
    'the others have not timed out');
select * from finish();
