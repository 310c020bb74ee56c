-- SPDX-License-Identifier: Apache-2.0
select plan(22);
create function t.notified(statement text) returns bigint language plpgsql as $$
begin
    -- As if no worker had been notified just before.
    perform setval('pawl_data.bell_clock', 0);
    perform from t.dblink('ear', statement) r (x text);
    return (select count(*) from t.dblink_get_notify('ear'));
end $$;
select t.dblink_connect('ear', format('host=%s port=%s user=%s dbname=%L', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database())) as x \gset
-- Roles are everybody's, so their names hold that of the database.
\set quiet quiet_ :DBNAME
\set loud loud_ :DBNAME
\set both both_ :DBNAME
create role :"quiet" login;
create role :"loud" login;
create role :"both" login;
grant :"quiet", :"loud" to :"both";
select pawl.grant_role(r, 'producer') from unnest(array[:'quiet', :'loud', :'both']) r \g /dev/null
select t.session() as s \gset
select pawl.create_workflow('test.flow') \gset
select count(*) as n from pawl.claim(:s) \gset
select t.dblink_exec('ear', format('listen "pawl_%s"', :s)) as x \gset
select pawl.rest(:s) \gset
\set run '$$select run_id::text from pawl.trigger(''test.flow'')$$'
select results_eq('select * from pawl.set_notify()', $$values (null::text, 'on')$$, 'on unless it is set');
select is((select count(*) from pawl.list_actions() where what = 'set_notify'), 0::bigint, 'a call without arguments is not recorded as an action');
select is(t.notified(:run), 1::bigint, 'on: an idle worker is notified');
select results_eq($$select * from pawl.set_notify('off', by => 'ann')$$, $$values (null::text, 'off')$$, 'off for the database');
select is(t.notified(:run), 0::bigint, 'off: nothing is notified');
select is((select handled from pawl.trigger('test.flow')), true, 'the trigger reports still that the workflow is handled');
select results_eq(format($$select * from pawl.set_notify('on', %L)$$, :'loud'), format($$values (null, 'off'), (%L, 'on')$$, :'loud'), 'on for a role');
select t.dblink_exec('ear', format('set session authorization %I', :'loud')) as x \gset
select is(t.notified(:run), 1::bigint, 'the value of a role precedes that of the database');
select t.dblink_exec('ear', format('set session authorization %I', :'quiet')) as x \gset
select is(t.notified(:run), 0::bigint, 'another role has the value of the database');
select results_eq($$select * from pawl.set_notify('on')$$, format($$values (null, 'on'), (%L, 'on')$$, :'loud'), 'on for the database again');
select is(t.notified(:run), 1::bigint, 'and for the other role');
select results_eq(format($$select * from pawl.set_notify('off', %L)$$, :'quiet'), format($$values (null, 'on'), (%L, 'on'), (%L, 'off')$$, :'loud', :'quiet'), 'off for the other role');
select is(t.notified(:run), 0::bigint, 'off: it does not notify');
select t.dblink_exec('ear', format('set session authorization %I', :'both')) as x \gset
select is(t.notified(:run), 1::bigint, 'a member of both has neither value');
select t.dblink_exec('ear', format('set role %I', :'quiet')) as x \gset
select is(t.notified(:run), 0::bigint, 'unless it sets the role');
select t.dblink_exec('ear', 'set session authorization default') as x \gset
select results_eq(format($$select * from pawl.set_notify('default', %L)$$, :'quiet'), format($$values (null, 'on'), (%L, 'on')$$, :'loud'), 'the value of a role can be removed');
select throws_ok($$select * from pawl.set_notify('maybe')$$, 'PW003', null, 'no other value');
select throws_ok($$select * from pawl.set_notify('default')$$, 'PW003', null, 'the database has no default');
select throws_ok($$select * from pawl.set_notify('off', 'notify_nobody')$$, 'PW001', null, 'no such role');
select results_eq(format($$select * from pawl.set_notify('default', %L)$$, :'loud'), $$values (null::text, 'on')$$, 'only the database is left');
select results_eq($$select value from pawl.set_notify('default', 'notify_nobody')$$, $$values ('on')$$, 'of a role that was dropped it can be removed as well');
select is((select string_agg(who || ' ' || (detail ->> 'notify'), ', ' order by action_no) from pawl.list_actions() where what = 'set_notify'),
    format('ann off, %1$s on, %1$s on, %1$s off, %1$s default, %1$s default, %1$s default', session_user), 'each change is recorded as an action');
drop owned by :"quiet", :"loud", :"both";
drop role :"both", :"quiet", :"loud";
select * from finish();
