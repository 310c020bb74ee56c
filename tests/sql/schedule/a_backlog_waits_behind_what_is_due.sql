-- SPDX-License-Identifier: Apache-2.0
-- Forty schedules have a backlog of a day each, and one of them of ten days: more than a piece of housekeeping takes, and were due before another one.
select * from no_plan();
select t.stop_clock();
select pawl.test_clock_set('2026-05-23 00:00:30+00') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
create function pg_temp.pause(p_first int, p_last int) returns bigint language sql as $$
    select count(pawl.create_schedule('old.' || n, 'w', every => '1 min', catch_up => 'all', catch_up_within => '3650 days', overlap => 'allow', tenant => 'greedy')
                 || pawl.pause_schedule('old.' || n, tenant => 'greedy'))
    from generate_series(p_first, p_last) n
$$;
select pg_temp.pause(1, 1) \g /dev/null
select pawl.test_clock_set('2026-06-01 00:00:30+00') \g /dev/null
select pg_temp.pause(2, 40) \g /dev/null
select pawl.test_clock_set('2026-06-02 00:00:30+00') \g /dev/null
select pawl.create_schedule('due', 'w', cron => '* * * * *', tenant => 'other', overlap => 'allow') \g /dev/null
select count(pawl.resume_schedule('old.' || n, tenant => 'greedy')) from generate_series(1, 40) n \g /dev/null
select pawl.test_clock_set('2026-06-02 00:01:00+00') \g /dev/null
select cmp_ok(pawl._do_piece('schedules', pawl.now(), 20, null), '>=', 1, 'a piece fires some');
select is((select fired from pawl_data.schedule where name = 'due'), 1::bigint, 'what is due on time precedes a backlog');
do $$ begin for i in 1..7 loop perform pawl._do_piece('schedules', pawl.now(), 20, null); end loop; end $$;
select cmp_ok((select count(*) from pawl_data.schedule where tenant = 'greedy' and fired > 0), '>=', 7::bigint, 'schedules with a backlog take turns');
select is((select max(fired) from pawl_data.schedule where tenant = 'greedy'), 20::bigint, 'of twenty runs');
-- A piece of one tenant, and a schedule that was paused again.
create function pg_temp.backlog() returns bigint language sql as $$select sum(fired)::bigint from pawl_data.schedule where tenant = 'greedy'$$;
select pawl.pause_schedule(s.name, tenant => 'greedy') from pawl_data.schedule s where s.tenant = 'greedy' and s.fired = 0 \g /dev/null
select pg_temp.backlog() as before \gset
select is(pawl._do_piece('schedules', pawl.now(), 20, 'other'), 0, 'a session that is bound to a tenant fires no backlog of another one');
do $$ begin for i in 1..40 loop perform pawl._do_piece('schedules', pawl.now(), 20, 'greedy'); end loop; end $$;
select cmp_ok(pg_temp.backlog(), '>=', :before + 800::bigint, 'one that is bound to theirs does');
select is((select count(*) from pawl_data.schedule where tenant = 'greedy' and paused and fired > 0), 0::bigint, 'a paused one has no turn');
select * from finish();
