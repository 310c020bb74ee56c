-- SPDX-License-Identifier: Apache-2.0
-- Something makes each change of one run fail: here a trigger that an operator has added. Whatever housekeeping has to do for others is done,
-- and doctor() names the run.
select plan(20);
select pawl.create_workflow('test.flow') \g /dev/null

select t.stop_clock();
update pawl_data.chore set due_at = 'infinity';
create table pg_temp.broken (run_id uuid);
grant select on pg_temp.broken to public;
create function public.breaks() returns trigger language plpgsql as $$
begin
    if exists (select from pg_temp.broken b where b.run_id = old.run_id) then
        raise 'broken';
    end if;
    return case when tg_op = 'DELETE' then old else new end;
end
$$;
create function pg_temp.found(piece text) returns text language sql as $$
    select regexp_replace(d.found, '.*run ([-0-9a-f]+).*', '\1') from pawl.doctor() d where d.what = 'chore ' || piece
$$;
create trigger breaks before update or delete on pawl_data.task for each row execute function public.breaks();

-- Timers.
create temp table x as select run_id, item from pawl.trigger_many('test.flow', array_fill('{}'::json, array[50]), delay => '10 s');
select run_id as r from x where item = 7 \gset
insert into pg_temp.broken values (:'r');
select pawl.test_clock_advance('11 s') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task where place = 'r'), 49::bigint, 'timers of the others are ready');
select is(pg_temp.found('timers'), :'r', 'doctor names it');

-- A lost session that holds it among others.
truncate pg_temp.broken;
call pawl.tick(true);
select t.session(lease => '10 s') as s \gset
select count(*) as n from pawl.claim(:s, 100) \gset
select is(:n, 50, 'a worker takes all of them');
insert into pg_temp.broken values (:'r');
select pawl.test_clock_advance('30 s') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task where place = 'r'), 49::bigint, 'and is lost: the others are taken back');
select is(pg_temp.found('sessions'), :'r', 'doctor names the one that is not');
select is((select count(*) from pawl_data.worker where session_id = :s and ended_at is null), 1::bigint, 'whose session stays');
truncate pg_temp.broken;
call pawl.tick(true);
select is((select ended_why from pawl_data.worker where session_id = :s), 'lost', 'until that is taken back, too');

-- Limits.
select pawl.create_workflow('limited', run_timeout => '10 s') \g /dev/null
create temp table y as select run_id, n from generate_series(1, 20) n, pawl.trigger('limited', to_json(n));
select run_id as r from y where n = 3 \gset
insert into pg_temp.broken values (:'r');
select pawl.test_clock_advance('11 s') \g /dev/null
call pawl.tick(true);
select is((select count(*) from y, t.state(y.run_id) s where s = 'ERROR'), 19::bigint, 'limits of the others are enforced');
select is(pg_temp.found('limits'), :'r', 'doctor names the one that is not');
truncate pg_temp.broken;
select pawl.test_clock_advance('2 min') \g /dev/null
call pawl.tick(true);
select is(t.state(:'r'), 'ERROR', 'it is tried again');

-- Steps that hang.
select t.session(lease => '1 hour') as s \gset
delete from pawl_data.task;
create temp table z as select t.run() as run_id from generate_series(1, 10);
select run_id as r from z limit 1 offset 4 \gset
select json_agg(json_build_object('run', c.run_id, 'step', 'slow#1', 'started_ms', 0, 'timeout_ms', 1000)) as running from pawl.claim(:s, 10) c \gset
select count(*) from pawl.heartbeat(:s, :'running') \g /dev/null
insert into pg_temp.broken values (:'r');
select pawl.test_clock_advance('10 min') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task where place = 'r'), 9::bigint, 'steps of the others that hang are taken away');
select is(pg_temp.found('limits'), :'r', 'doctor names the one that is not');

-- Deliveries, to more waits than one emit settles.
truncate pg_temp.broken;
delete from pawl_data.task;
select t.session(lease => '1 hour') as s \gset
create temp table w as select t.run() as run_id from generate_series(1, 1300);
select count(c.answer) from pawl.claim(:s, 1000) k, pawl.wait_event(:s, k.run_id, k.fence, 'w', 'go') c \g /dev/null
select count(c.answer) from pawl.claim(:s, 1000) k, pawl.wait_event(:s, k.run_id, k.fence, 'w', 'go') c \g /dev/null
select run_id as r from pawl_data.task order by run_id offset 1200 limit 1 \gset
insert into pg_temp.broken values (:'r');
select is((select woken from pawl.emit('go')), 1000, 'an event wakes a thousand');
do $$ begin for i in 1..5 loop call pawl.tick(true); perform pawl.test_clock_set(pawl.now() + interval '100 ms'); end loop; end $$;
select is((select count(*) from pawl_data.wait), 1::bigint, 'the others are woken behind the broken one');
select is((select run_id from pawl_data.wait), :'r'::uuid, 'which waits');
select is((select count(*) from pawl.doctor() where what = 'chore deliveries'), 1::bigint, 'and is reported');
truncate pg_temp.broken;
select pawl.test_clock_advance('2 s') \g /dev/null
call pawl.tick(true);
call pawl.tick(true);
select is((select count(*) from pawl_data.wait) || ' ' || (select count(*) from pawl_data.delivery), '0 0', 'mended, it is woken as well');
drop trigger breaks on pawl_data.task;

-- A claim that picks a run whose wait cannot be settled, because its partition is gone.
delete from pawl_data.task;
select run_id as r, fence as f from t.held(:s) \gset
select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 s') \g /dev/null
select 'step_' || to_char(pawl._id_time(:'r') at time zone 'UTC', 'YYYYMMDD') as part \gset
alter table pawl_data.step detach partition pawl_data.:part;
select pawl.test_clock_advance('2 s') \g /dev/null
call pawl.tick(true);
select count(*) from pawl.claim(:s, 10) \g /dev/null
select t.run() as fine \gset
select is((select run_id from pawl.claim(:s, 10)), :'fine'::uuid, 'a claim leaves it out and takes the others');
select is((select count(*) from pawl.doctor() where what = 'chore claims' and found like '%' || :'r' || '%'), 1::bigint, 'doctor names it');
select is((select place::text || ' ' || reason from pawl_data.task where run_id = :'r'), 'w delay', 'it is tried again a minute later');
select * from finish();
