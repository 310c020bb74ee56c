-- SPDX-License-Identifier: Apache-2.0
-- For weeks nothing ticks, and producers trigger plain runs, which make no partitions. Then a worker comes.
select plan(10);
select pawl.create_workflow('test.flow') \g /dev/null
select t.stop_clock();
select t.session(lease => '1 day') as s \gset
select pawl.test_clock_advance('20 days') \g /dev/null
select run_id as early from pawl.trigger('test.flow') \gset
select run_id as killed from pawl.trigger('test.flow') \gset
select pawl.test_clock_advance('2 days') \g /dev/null
select run_id as late from pawl.trigger('test.flow') \gset
select pawl.test_clock_advance('3 days') \g /dev/null
create function pg_temp.parts(run uuid) returns bigint language sql as $$
    select count(*) from pawl._partitions(pawl._run_tables()) p where p.day = (pawl._id_time(run) at time zone 'UTC')::date
$$;
select is(pg_temp.parts(:'early') || ' ' || pg_temp.parts(:'late'), '0 0', 'triggers have made none');
select is((select answer from pawl.kill(array[:'killed'::uuid])), 'ok', 'an operator ends one that was never claimed');
select is(pg_temp.parts(:'early'), 0::bigint, 'which makes none, for a run of more than a day is kept apart');
update pawl_data.chore set due_at = 'infinity' where chore <> 'partitions';
update pawl_data.chore set due_at = '-infinity' where chore = 'partitions';
call pawl.tick(true);
select is(pg_temp.parts(:'early') || ' ' || pg_temp.parts(:'late'), '6 6', 'a tick makes those that living runs need');
select t.session(lease => '1 day') as s \gset
select is((select count(*) from pawl.claim(:s, 10)), 2::bigint, 'a worker takes both');
select is((select string_agg(c.answer, ' ') from pawl.held(:s) h, pawl.step(:s, h.run_id, h.fence, 'one') c), 'ok ok', 'records steps');
select is((select string_agg(c.answer, ' ') from pawl.held(:s) h, pawl.complete(:s, h.run_id, h.fence) c), 'ok ok', 'and ends them');
select is(t.state(:'early') || ' ' || t.state(:'late') || ' ' || t.state(:'killed'), 'SUCCESS SUCCESS CANCELLED', 'all are found');

-- An id that somebody makes up makes no partition.
update pawl_data.setting set partitions_until = pawl.now() - interval '1 day';
select count(*) as before from pawl._partitions(pawl._run_tables()) \gset
select is((select answer from pawl.commit(:s, array['0ffffff0-0000-7000-8000-000000000000'::uuid], '{1}', '{step}', '{a#1}', '{1}')), 'refused', 'a run that is not there');
select is((select count(*) from pawl._partitions(pawl._run_tables())), :before::bigint, 'leaves no table behind');
select * from finish();
