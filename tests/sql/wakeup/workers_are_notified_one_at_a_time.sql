-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL has one lock for all transactions that notify, and keeps it until they are on disk.
select plan(12);
select t.ear(), t.ear('other') \g /dev/null
select pawl.create_workflow('test.flow'), pawl.create_workflow('test.other') \g /dev/null
select t.rester() as s \gset
select queue_id as q from pawl_data.queue where name = 'test.flow' \gset
-- What a trigger notifies that comes so many microseconds after another notified a worker of that queue. Again, if the machine was slow.
create function pg_temp.after(us bigint, queue int) returns text language plpgsql as $$
declare
    v_from timestamptz;
    v_heard text;
begin
    for n in 1..100 loop
        v_from := clock_timestamp();
        perform setval('pawl_data.bell_clock', ((date_part('epoch', v_from) * 1000000)::bigint - us) << 12 | queue);
        perform from t.dblink('ear', $q$select run_id::text from pawl.trigger('test.flow')$q$) r (x text);
        v_heard := (select string_agg(n.notify_name, ' ') from t.dblink_get_notify('ear') n);
        exit when clock_timestamp() < v_from + interval '400 ms';
    end loop;
    return v_heard;
end $$;
select is(pg_temp.after(1000000, :q), 'pawl_' || :s, 'a second later: notified');
select is(pg_temp.after(-500000, :q), null, 'just after another: not');
select is(pg_temp.after(-500000, :q + 1), 'pawl_' || :s, 'just after another of another queue: notified');
select is(pg_temp.after(-5000000, :q), 'pawl_' || :s, 'the clock was set back: notified');
select t.dblink_exec('other', 'begin') \g /dev/null
select t.rung($$select 1::text from pawl_data.bell for update$$, 'other') \g /dev/null
select is(pg_temp.after(-500000, :q + 1), null, 'another transaction is about to notify: not');
select is(pg_temp.after(1000000, :q), 'pawl_' || :s, 'unless that takes long');
select t.dblink_exec('other', 'rollback') \g /dev/null
-- A worker that was killed is marked until its lease ends.
select t.rester() as s2 \gset
select is((select count(*) from generate_series(1, 20) n where t.rung($$select run_id::text from pawl.trigger('test.flow')$$) ~ ' '), 0::bigint, 'of two that rest one is notified');
select pawl.test_clock_advance('3 s') \g /dev/null
select is((select count(*) from generate_series(1, 20) n where t.rung($$select run_id::text from pawl.trigger('test.flow')$$) ~ ' '), 20::bigint, 'both, if they have rested for three seconds');
select pawl.test_clock_advance('13 s') \g /dev/null
select pawl.heartbeat(:s2) \g /dev/null
select is(t.rung($$select run_id::text from pawl.trigger('test.flow')$$), 'pawl_' || :s2, 'one that has been silent for half its lease is not');
select is((select handled from pawl.trigger('test.flow')), true, 'although it is not lost yet');
select t.rung('select 1::text') \g /dev/null
select is(t.rung($$select run_id::text from pawl.trigger('test.flow', delay => '1 s')$$), null, 'a delayed run is nothing to notify of');
select is(t.rung($$select run_id::text from pawl.trigger('test.flow', key => 'k')$$) || ' ' || coalesce(t.rung($$select run_id::text from pawl.trigger('test.flow', key => 'k')$$), '-'),
    'pawl_' || :s2 || ' -', 'neither is one that was there already');
select * from finish();
