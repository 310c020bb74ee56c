-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select 'tg_' || current_database() as grp, 'tm_' || current_database() as member \gset
create role :"grp";
create role :"member" login;
grant :"grp" to :"member";
select pawl.grant_role(:'grp', 'producer', 'a') \gset
select pawl.create_workflow('test.flow') \gset
set session authorization :"member";
select throws_ok($$select * from pawl.trigger('test.flow', tenant => 'b')$$, 'PW001', null, 'another tenant');
select run_id as r from pawl.trigger('test.flow') \gset
set role :"grp";
select throws_ok($$select * from pawl.trigger('test.flow', tenant => 'b')$$, 'PW001', null, 'nor after set role');
reset session authorization;
select is((select tenant from pawl.get_run(:'r')), 'a', 'works in the tenant of the group');
drop owned by :"grp", :"member";
drop role :"grp", :"member";
select * from finish();
