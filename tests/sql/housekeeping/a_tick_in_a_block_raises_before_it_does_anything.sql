-- SPDX-License-Identifier: Apache-2.0
-- A driver with autocommit off, a function, a transaction block: what tick() locks there would stay locked. Alone it keeps nothing.
select plan(13);
select pawl.create_workflow('test.flow') \g /dev/null

select t.stop_clock();
select t.session(lease => '1 hour') as s \gset
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[7]), delay => '10 s') \g /dev/null
select pawl.test_clock_advance('11 s') \g /dev/null
create function pg_temp.waits() returns bigint language sql as $$ select count(*) from pawl_data.task where place = 'w' $$;
create function pg_temp.locks() returns bigint language sql as $$
    select count(*) from pg_locks l join pg_class c on c.oid = l.relation and c.relnamespace = 'pawl_data'::regnamespace
    where l.pid = pg_backend_pid() and l.mode not in ('AccessShareLock')
$$;
select throws_ok('call pawl.tick()', '2D000', null, 'a function that calls it raises');
-- A transaction of a client: one that it has begun, or that its driver has begun with the same message.
select t.other_holds('select ''x''') \g /dev/null
select throws_ok($$select t.dblink_exec('other', 'call pawl.tick()')$$, '2D000', null, 'in a block it raises');
select t.dblink_exec('other', 'rollback') \g /dev/null
select throws_ok($$select t.dblink_exec('other', 'begin; call pawl.tick()')$$, '2D000', null, 'so it does behind a begin of the same message');
select t.dblink_disconnect('other') \g /dev/null
select is(pg_temp.waits(), 7::bigint, 'and has done nothing');
select is((select last_value from pawl_data.housekeeping_clock), 0::bigint, 'the clock of housekeeping stands');
do $$
begin
    call pawl.tick();
    perform set_config('test.locks', pg_temp.locks()::text, false);
end
$$;
select is(pg_temp.waits(), 0::bigint, 'alone, also in an anonymous block, it makes the timers ready');
select is(current_setting('test.locks'), '0', 'and holds nothing afterwards');
select is((select pawl._tick_overdue(pawl.now()) < 0), true, 'the next one is due later');

-- Whatever the session's defaults are.
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[7]), delay => '10 s') \g /dev/null
select pawl.test_clock_advance('11 s') \g /dev/null
set default_transaction_isolation = 'serializable';
set default_transaction_read_only = on;
call pawl.tick();
set default_transaction_read_only = off;
reset default_transaction_isolation;
select is(pg_temp.waits(), 0::bigint, 'serializable and read only sessions tick, too');

-- What a caller shadows does not matter, because nothing in it is looked up in the caller's path.
create schema evil;
create function evil.has_function_privilege(text, text) returns boolean language plpgsql as $$ begin raise 'evil'; end $$;
create function evil._tick_piece(int) returns boolean language plpgsql as $$ begin raise 'evil'; end $$;
set search_path to evil, pg_catalog;
call pawl.tick(true);
reset search_path;
select pass('a caller''s own functions are not called');

-- Who may.
select 'none_' || current_database() as none, 'w_' || current_database() as w \gset
create role :none login;
create role :w login;
select pawl.grant_role(:'none', 'producer'), pawl.grant_role(:'w', 'worker') \g /dev/null
select throws_ok(format('set local role %I; call pawl.tick()', :'none'), '42501', null, 'a producer may not');
set role :w;
call pawl.tick(true);
reset role;
select pass('a worker may');
select is((select count(*) from pawl_data.chore where last_error is not null), 0::bigint, 'nothing has failed');
drop owned by :none, :w;
drop role :none, :w;
select * from finish();
