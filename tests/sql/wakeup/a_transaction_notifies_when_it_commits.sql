-- SPDX-License-Identifier: Apache-2.0
-- 1. A triggers a run in a transaction that lasts. 2. A worker finds nothing and rests. 3. A commits. What A decides at the trigger would be
-- too early for the worker of 2, and what it locks there would silence others.
select plan(13);
select t.ear(), t.ear('other') \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select t.session() as busy \gset
select t.dblink_exec('ear', 'begin') \g /dev/null
select is(t.rung($$select run_id::text from pawl.trigger('test.flow')$$), null, 'no worker rests, and a transaction is open');
select t.rester() as s \gset
select is((select ready from pawl.rest(:s)), false, 'the worker that rests now does not see the run');
select is(t.rung($$select run_id::text from pawl.trigger('test.flow')$$, 'other'), null, 'others are not kept from ringing');
select is((select count(*) from t.dblink_get_notify('ear')), 0::bigint, 'the worker is notified of that');
select is((select count(*) from pawl.claim(:s)), 1::bigint, 'and claims it');
select pawl.rest(:s) \g /dev/null
select setval('pawl_data.bell_clock', 0) \g /dev/null
select t.dblink_exec('ear', 'commit') \g /dev/null
select is((select count(*) from t.dblink_get_notify('ear') where notify_name = 'pawl_' || :s), 1::bigint, 'the commit notifies it');
select t.dblink_exec('ear', 'begin') \g /dev/null
select t.rung($$select run_id::text from pawl.trigger('test.flow'), generate_series(1, 3)$$) \g /dev/null
select t.rung($$select run_id::text from pawl.trigger('test.flow')$$) \g /dev/null
select is((select n from t.dblink('ear', 'select count(*) from pawl_data.ring where xmin = pg_current_xact_id()::xid') r (n bigint)), 1::bigint, 'once for a transaction and queue');
select t.dblink_exec('ear', 'savepoint s') \g /dev/null
select pawl.create_workflow('q.n' || n) from generate_series(1, 50) n \g /dev/null
select pawl.heartbeat(:s) \g /dev/null
select t.rung($$select count(*)::text from generate_series(1, 50) n, pawl.trigger('q.n' || n)$$) \g /dev/null
select is((select n from t.dblink('ear', 'select count(*) from pawl_data.ring where xmin::text::bigint >= (pg_current_xact_id()::text::bigint & 4294967295)') r (n bigint)), 32::bigint, 'of many queues for some');
select t.dblink_exec('ear', 'rollback to savepoint s') \g /dev/null
select t.rung($$select run_id::text from pawl.trigger('q.n7')$$) \g /dev/null
select t.dblink_exec('ear', 'commit') \g /dev/null
-- What is decided at the statement leaves no row.
create function pg_temp.decided(statement text) returns text language plpgsql as $f$
begin
    delete from pawl_data.ring;
    if statement ~ 'commit$' then
        perform t.dblink_exec('ear', statement);
    else
        perform t.rung(statement);
    end if;
    return case when exists (select from pawl_data.ring) then 'at the commit' else 'at once' end;
end $f$;
-- The first try that is quick enough ends it; a slow machine needs more of them.
select is(exists (select from generate_series(1, 2000) where pg_temp.decided($$select run_id::text from pawl.trigger('test.flow')$$) = 'at once'), true, 'a trigger that is a transaction by itself decides at once, on a machine that is quick enough');
select is(pg_temp.decided($$begin; select run_id::text from pawl.trigger('test.flow'); commit$$), 'at the commit', 'one in a text of several statements does not');
create function public.order_goods() returns text language plpgsql as $f$ begin return (select run_id from pawl.trigger('test.flow')); end $f$;
select is(pg_temp.decided('select public.order_goods()'), 'at the commit', 'nor one in a function');
select is(pg_temp.decided($$select 1::text from (select pg_sleep(0.1)) s, pawl.trigger('test.flow')$$), 'at the commit', 'nor one in a statement that has been executing for a while');
drop function public.order_goods();
select pawl.housekeep() \g /dev/null
select is((select count(*) from pawl_data.ring), 0::bigint, 'housekeeping removes what was notified');
select * from finish();
