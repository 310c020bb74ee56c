-- SPDX-License-Identifier: Apache-2.0
-- A worker that is bound to another tenant is not notified, and does not count as one that handles the workflow.
select plan(13);
create function t.heard(statement text) returns text language plpgsql as $$
begin
    -- As if no worker had been notified just before.
    perform setval('pawl_data.bell_clock', 0);
    perform from t.dblink('ear', statement) r (x text);
    return (select string_agg(n.notify_name, ' ' order by n.notify_name) from t.dblink_get_notify('ear') n);
end $$;
select t.dblink_connect('ear', format('host=%s port=%s user=%s dbname=%L', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database())) as x \gset
select pawl.create_workflow('test.flow') \g /dev/null
select t.flow('test.steps', '[["one"]]') \g /dev/null
select t.session(name => 'of a') as a \gset
select t.session(name => 'of b') as b \gset
update pawl_data.worker set tenant = case session_id when :a then 'a' else 'b' end;
update pawl_data.setting set tenants_bound = true;
select pawl.rest(:a), pawl.rest(:b) \g /dev/null
select t.dblink_exec('ear', format('listen "pawl_%s"', x)) as x from unnest(array[:a, :b]) x \g /dev/null
select is(t.heard($$select run_id::text from pawl.trigger('test.flow', tenant => 'a')$$), 'pawl_' || :a, 'the worker of its tenant is notified');
select is(t.heard($$select run_id::text from pawl.trigger('test.flow', tenant => 'b')$$), 'pawl_' || :b, 'of each');
select is(t.heard($$select run_id::text from pawl.trigger_many('test.flow', array['{}']::json[], tenant => 'a')$$), 'pawl_' || :a, 'for many at once, too');
select is(t.heard($$select run_id::text from pawl.trigger('test.steps', tenant => 'b')$$), 'pawl_' || :b, 'and for tasks of a flow');
select is(t.heard($$select run_id::text from pawl.trigger('test.flow', tenant => 'c')$$), null, 'nobody, if there is none');
select pawl.trigger('test.flow', tenant => 'b', delay => '10 s') \g /dev/null
select t.heard('select 1::text') \g /dev/null
select pawl.test_clock_advance('11 s') \g /dev/null
select is(t.heard('select pawl.housekeep()::text'), 'pawl_' || :b, 'when its time has come, the same');
select is((select handled from pawl.trigger('test.flow', tenant => 'c')), false, 'which the answer says');
select is((select handled from pawl.trigger('test.steps', tenant => 'c')), false, 'of a flow as well');
select is((select handled from pawl.trigger('test.flow', tenant => 'a')), true, 'and with one it says so');
select is((select handled from pawl.trigger('test.steps', tenant => 'a')), true, 'here too');
select 'tw_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', 'producer', 'b') \g /dev/null
set session authorization :"bound";
select is((select handled from pawl.trigger('test.flow')), true, 'a role that is bound need not name its tenant');
reset session authorization;
select t.heard('select 1::text') \g /dev/null
select t.dblink_exec('ear', format('set session authorization %I', :'bound')) as x \g /dev/null
select is(t.heard($$select run_id::text from pawl.trigger('test.flow')$$), 'pawl_' || :b, 'and the worker of its tenant is notified');
select t.dblink_exec('ear', 'reset session authorization') as x \g /dev/null
select pawl.leave(:b) \g /dev/null
set session authorization :"bound";
select is((select handled from pawl.trigger('test.flow')), false, 'if there is one');
reset session authorization;
drop owned by :"bound";
drop role :"bound";
select * from finish();
