-- SPDX-License-Identifier: Apache-2.0
select plan(20);
select 'ro_' || current_database() as operator, 'rx_' || current_database() as other \gset
create role :"operator" login;
create role :"other" login;
select pawl.grant_role(:'operator', 'operator') \gset
set session authorization :"operator";
select throws_ok(format('select pawl.grant_role(%L, %L)', :'other', 'operator'), '42501', null, 'an operator cannot grant');
select throws_ok(format('select pawl.grant_role(%L, %L)', :'operator', 'worker'), '42501', null, 'not even to itself');
select throws_ok(format('select pawl.revoke_role(%L, %L)', :'operator', 'operator'), '42501', null, 'nor revoke');
select throws_ok('select * from pawl_data.setting', '42501', null, 'nor read a table');
select throws_ok('create table pawl.mine (x int)', '42501', null, 'nor create one');
select throws_ok('select pawl._epoch()', '42501', null, 'nor call a private function');
reset session authorization;
set session authorization pawl_owner;
select lives_ok(format('select pawl.grant_role(%L, %L)', :'other', 'reader'), 'the owner grants, without being a superuser');
select lives_ok(format('select pawl.grant_role(%L, %L)', :'other', 'reader'), 'twice');
select lives_ok(format('select pawl.grant_role(%L, %L)', :'other', 'producer'), 'another set');
select lives_ok(format('select pawl.revoke_role(%L, %L)', :'other', 'reader'), 'revokes one');
select throws_ok(format('select pawl.revoke_role(%L, %L)', :'other', 'reader'), 'PW001', null, 'twice: it does not have it');
select set_eq('select role_name, privilege_set, tenant, role_exists from pawl.list_grants()', format('values (%L, %L, null::text, true), (%L, %L, null, true)', :'operator', 'operator', :'other', 'producer'), 'what is granted is listed');
select throws_ok($$select pawl.grant_role('no_such_role_at_all', 'reader')$$, 'PW001', null, 'an unknown role');
select throws_ok(format('select pawl.grant_role(%L, %L)', :'other', 'root'), 'PW003', null, 'an unknown set');
select throws_ok(format('select pawl.grant_role(%L, null)', :'other'), 'PW003', null, 'no set');
reset session authorization;
select is(has_function_privilege(:'other', 'pawl.list_runs(text,text,text,text,text,timestamptz,timestamptz,uuid,int)', 'execute'), false, 'what only the revoked set had is gone');
select is(has_function_privilege(:'other', 'pawl.get_run(uuid)', 'execute'), true, 'what both sets had has stayed');
select is((select string_agg(what, ' ' order by action_no) from pawl.list_actions()), 'grant_role grant_role grant_role grant_role revoke_role', 'all of it is audited');
select pawl.grant_role(:'other', 'producer', tenant => 'acme') \gset
select is((select tenant from pawl.list_grants() where privilege_set = 'producer'), 'acme', 'with the tenant that a role is bound to');
drop owned by :"operator", :"other";
drop role :"operator", :"other";
select is((select string_agg(privilege_set, ' ' order by privilege_set) from pawl.list_grants() where not role_exists), 'operator producer', 'and names that no role has any more');
select * from finish();
