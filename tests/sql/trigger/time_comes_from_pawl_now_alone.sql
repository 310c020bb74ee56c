-- SPDX-License-Identifier: Apache-2.0
-- Functions that decide nothing by it: a bound on waiting for a lock, the look whether a transaction block is open, the transaction of a stamp, and
-- notifications.
select plan(3);

select is((select string_agg(p.proname, ' ' order by p.proname)
    from pg_proc p
    where p.pronamespace = 'pawl'::regnamespace and p.proname not like 'test\_clock%'
      and regexp_replace(p.prosrc, '--[^\n]*', '', 'g') ~* '\m(clock_timestamp|statement_timestamp|transaction_timestamp|current_timestamp|localtimestamp|current_date|localtime|current_time|timeofday)\M|(?<!pawl\.)\mnow\s*\('),
    '_cancel_runs _continue_bulk _fire _grab _grab_schedule _grab_subscription _is_lone _kill_runs _limit_room _limit_sessions _pause_runs _pick _pick_lanes _resume_runs _ring _ring_for _stamp _start_runs _wake_runs act_as_token now trigger', 'no other function reads a clock');
select is((select count(*) from pg_attrdef d join pg_class c on c.oid = d.adrelid where c.relnamespace = 'pawl_data'::regnamespace and pg_get_expr(d.adbin, d.adrelid) ~* 'now\(|current_|clock_|timeofday'), 0::bigint, 'nor does a default');
select t.session(lease => '1 day') as s \gset
select pawl.test_clock_set('2031-05-06 07:08:09+00') \g /dev/null
select t.run('clock.flow') as r \gset
select is((select triggered_at from pawl.get_run(:'r')), '2031-05-06 07:08:09+00'::timestamptz, 'what it says is taken');

select * from finish();
