-- SPDX-License-Identifier: Apache-2.0
-- 1. A calls tick(), and a lease of another session has expired. 2. Timers take longer than the lease of A. 3. The heartbeat of A waits on its
-- connection, after the tick.
select plan(4);

select t.stop_clock() \g /dev/null
select t.session(lease => '30 s') as s \gset
select run_id as r from t.held(:s) \gset
select t.session(lease => '1 s') as lost \gset
select run_id as delayed from pawl.trigger('test.flow', delay => '1 s') \gset
select pawl.test_clock_advance('1500 ms') \g /dev/null
create function public.take_long() returns trigger language plpgsql as $f$
begin
    perform pawl.test_clock_advance('40 s');
    return new;
end $f$;
create trigger slow before update on pawl_data.task for each row when (old.place = 'w') execute function public.take_long();
select pawl.now() as began \gset
call pawl.tick();
select ok(pawl.now() >= :'began'::timestamptz + interval '40 s', 'the tick takes longer than the lease');
select is((select place from pawl_data.task where run_id = :'delayed'), 'r', 'it makes the timer ready');
select is((select ended_why from pawl_data.worker where session_id = :lost), 'lost', 'it ends the session whose lease had expired');
select is((select coalesce(ended_why, 'live') from pawl_data.worker where session_id = :s), 'live', 'and not the one whose lease held when it began');
drop trigger slow on pawl_data.task;
drop function public.take_long();

select * from finish();
