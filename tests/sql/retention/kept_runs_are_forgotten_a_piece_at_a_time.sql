-- SPDX-License-Identifier: Apache-2.0
-- Runs that were retried late have an early round that is past its time, and stay. However many there are, a round of housekeeping
-- looks at a bounded number, locks none of them, and comes to those behind them.
select plan(12);
select t.stop_clock() \g /dev/null
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
update pawl_data.worker set lease = '30 days', lease_until = lease_until + interval '30 days';
select t.later('2 days') \g /dev/null
select t.answer(:s, :'r', :f, 'complete', null, '1') \g /dev/null
create temp table it as select * from pawl_data.run_kept;
select is((select count(*) from it), 1::bigint, 'a run of two days is kept apart');
select t.later('20 days') \g /dev/null
delete from pawl_data.run_kept;
create function pg_temp.make(p_first int, p_count int, p_round int, p_ended timestamptz) returns void language sql as $$
    insert into pawl_data.run_kept
    select (json_populate_record(i, json_build_object('run_id', (left(i.run_id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid,
                                                      'round', p_round, 'ended_at', p_ended + n * interval '1 ms'))).*
    from it i, generate_series(p_first, p_first + p_count - 1) n
$$;
-- 2,500 with a later round, and 700 without one that ended after their first.
select pg_temp.make(1, 2500, 1, pawl.now() - interval '16 days'), pg_temp.make(1, 2500, 2, pawl.now() - interval '1 day'),
       pg_temp.make(10001, 700, 1, pawl.now() - interval '15 days') \g /dev/null
update pawl_data.chore set due_at = 'infinity' where chore <> 'kept';
update pawl_data.chore set due_at = '-infinity' where chore = 'kept';
begin;
select pawl._do_chore(pawl.now(), false) \g /dev/null
select is((select count(*) from pawl_data.run_kept where xmax <> 0), 0::bigint, 'those that stay are not locked');
commit;
select is((select due_at - pawl.now() from pawl_data.chore where chore = 'kept'), '1 s'::interval, 'the next piece follows soon');
select isnt((select position from pawl_data.chore where chore = 'kept'), null, 'and goes on where this one ended');
create function pg_temp.rounds(p_count int) returns void language plpgsql as $$
begin
    for i in 1..p_count loop
        update pawl_data.chore set due_at = '-infinity' where chore = 'kept';
        perform pawl._do_chore(pawl.now(), false);
    end loop;
end $$;
select pg_temp.rounds(2) \g /dev/null
select is((select count(*) from pawl_data.run_kept where ended_at < pawl.now() - interval '14 days'), 2700::bigint, 'the third piece comes to those behind them, 500 at a time');
select pg_temp.rounds(1) \g /dev/null
select is((select count(*) from pawl_data.run_kept where ended_at < pawl.now() - interval '14 days'), 2500::bigint, 'and the fourth to the last of them');
select is((select due_at - pawl.now() from pawl_data.chore where chore = 'kept'), '1 min'::interval, 'then there is time');
select is((select position from pawl_data.chore where chore = 'kept'), null, 'and it begins anew');
select is((select count(*) from pawl_data.run_kept), 5000::bigint, 'runs with a later round have both');
-- With many records, fewer runs at a time.
delete from pawl_data.run_kept;
select pg_temp.make(1, 10, 1, pawl.now() - interval '15 days') \g /dev/null
insert into pawl_data.step_kept (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name)
select k.run_id, 0, 1, 's', 's', n, 1, 1, k.ended_at, k.ended_at, 'a#' || n from pawl_data.run_kept k, generate_series(1, 4000) n;
select pg_temp.rounds(1) \g /dev/null
select is((select count(*) from pawl_data.run_kept), 7::bigint, 'ten thousand records and a few at a time');
select is((select count(*) from pawl_data.step_kept), 28000::bigint, 'each run with all that it has');
select pg_temp.rounds(4) \g /dev/null
select is((select count(*) from pawl_data.run_kept) + (select count(*) from pawl_data.step_kept), 0::bigint, 'until there are none');
select * from finish();
