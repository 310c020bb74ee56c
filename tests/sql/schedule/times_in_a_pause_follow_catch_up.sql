-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.test_clock_set('2026-06-01 00:10+00') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
select pawl.create_schedule(x, 'w', cron => '0 * * * *', overlap => 'allow', catch_up => 'last') from unnest(array['own', 'none', 'all']) x \g /dev/null
select is(pawl.pause_schedule('own', 'tax', 'dora') || pawl.pause_schedule('none') || pawl.pause_schedule('all'), 'okokok', 'they are paused');
select is(pawl.pause_schedule('own'), 'already', 'once');
select pawl.test_clock_set('2026-06-01 03:00:20+00') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task), 0::bigint, 'a paused schedule fires nothing');
select is(pawl.why_schedule('own'), 'Paused by dora at 2026-06-01 00:10:00 UTC (3 h ago): tax. Resume it with pawl.resume_schedule().', 'why tells');
select throws_ok($$select pawl.resume_schedule('own', catch_up => 'some')$$, 'PW003', null, 'an unknown policy');
select is(pawl.resume_schedule('own') || pawl.resume_schedule('none', catch_up => 'none') || pawl.resume_schedule('all', 'me', 'all'), 'okokok', 'they are resumed');
select is(pawl.resume_schedule('own'), 'already', 'once');
call pawl.tick(true);
select is((select string_agg(format('%s %s', t.input -> 'scheduled' ->> 'by', to_char((t.input -> 'scheduled' ->> 'local')::timestamp, 'HH24')), ', ' order by t.key) from pawl_data.task t), 'all 01, all 02, all 03, own 03',
    'times in the pause follow the policy of the schedule, or that of the call; a time in a pause is late however short ago');
select is((select string_agg(format('%s %s', times, reason), ', ') from pawl.list_skips('none')), '3 paused', 'skipped ones are listed');
select is(pawl.why_schedule('none'), 'Fires next at 2026-06-01 04:00 UTC, in 60 min. Skipped 3 times from 2026-06-01 01:00 UTC to 2026-06-01 03:00 UTC, in a pause (catch_up was none).', 'and why tells');
select pawl.test_clock_set('2026-06-01 08:30+00') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task t where t.input -> 'scheduled' ->> 'by' = 'all' and t.input -> 'scheduled' ->> 'local' > '2026-06-01T03:30'), 1::bigint, 'later times follow the schedule''s own again');
select is((select string_agg(format('%s %s', what, who), ', ' order by action_no) from pawl.list_actions() where what ~ '^(pause|resume)' and detail ->> 'schedule' in ('own', 'all')), format('pause_schedule dora, pause_schedule %1$s, resume_schedule %1$s, resume_schedule me', current_user), 'actions are listed');
-- Two pauses, with a time between them, before housekeeping looks.
select pawl.create_schedule(x, 'w', cron => '0 * * * *', overlap => 'allow', catch_up => 'all') from unnest(array['twice', 'brake']) x \g /dev/null
create function pg_temp.pauses(p_name text, p_policies text[]) returns void language plpgsql as $$
declare
    v_policy text;
begin
    foreach v_policy in array p_policies loop
        perform pawl.pause_schedule(p_name);
        perform pawl.test_clock_advance('1 h');
        perform pawl.resume_schedule(p_name, catch_up => v_policy);
        perform pawl.test_clock_advance('1 h');
    end loop;
end
$$;
select pg_temp.pauses('twice', '{none,all}') \g /dev/null
call pawl.tick(true);
select is((select concat_ws(' ', fired, missed) from pawl_data.schedule where name = 'twice'), '3 1', 'a second pause does not forget the catch_up of the first');
select pg_temp.pauses('twice', '{all,none}') \g /dev/null
call pawl.tick(true);
select is((select concat_ws(' ', fired, missed) from pawl_data.schedule where name = 'twice'), '6 2', 'whatever they are');
select is((select sum(times) from pawl.list_skips('twice') where reason = 'paused'), 2::numeric, 'those that are not fired are listed');
select pg_temp.pauses('brake', array_fill('none'::text, '{101}')) \g /dev/null
select throws_ok($$select pawl.pause_schedule('brake')$$, 'PW010', null, 'there is a limit to pauses that nobody handles');
call pawl.tick(true);
call pawl.tick(true);
select is(pawl.pause_schedule('brake'), 'ok', 'and none to those that are handled');
select is((select cardinality(earlier_pauses) from pawl_data.schedule where name = 'brake'), 0, 'which are forgotten');
select * from finish();
