-- SPDX-License-Identifier: Apache-2.0
-- A call that triggers many runs is about to notify for a moment only, however long it takes.
select plan(8);
select t.ear() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select t.rester() as s \gset
-- What the clock of the bell says when the tasks are inserted.
create table t.clock (at bigint);
create function t.look() returns trigger language plpgsql security definer set search_path to pg_catalog, pg_temp as $$
begin
    insert into t.clock select last_value from pawl_data.bell_clock;
    return null;
end $$;
create trigger look after insert on pawl_data.task for each statement execute function t.look();
create function pg_temp.many(more text default '') returns text language sql as $$
    select t.rung(format($q$select count(*)::text from pawl.trigger_many('test.flow', array['1', '2']::json[]%s)$q$, more))
$$;
select is(pg_temp.many(), 'pawl_' || :s, 'one worker is notified');
select is((select array_agg(distinct at) from t.clock), '{0}', 'after the tasks were inserted');
select is(pg_temp.many($$, delay => '1 s'$$), null, 'delayed runs are nothing to notify of');
select is(pg_temp.many($$, keys => '{a,b}'$$), 'pawl_' || :s, 'new keys are');
select is(pg_temp.many($$, keys => '{a,b}'$$), null, 'keys that are taken are not');
select is(pg_temp.many($$, keys => '{a,c}'$$), 'pawl_' || :s, 'one new key is enough');
select is((select array_agg(distinct handled) from pawl.trigger_many('test.flow', array['1']::json[], keys => '{a}')), '{t}', 'the answer says that the queue is handled');
select is((select array_agg(distinct handled) from pawl.trigger_many('test.flow', array['1']::json[], delay => '1 s')), '{t}', 'of delayed runs, too');
select * from finish();
