-- SPDX-License-Identifier: Apache-2.0
-- Workflows and flows are shared by all tenants: an operator of one tenant changes none of them.
select plan(14);
select 'td_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', 'operator', 'a') \gset
select pawl.create_workflow('test.workflow') \gset
select pawl.create_flow('test.flow') \gset
select pawl.add_step('test.flow', 'first') \gset
select md5(string_agg(x::text, ' ')) as before from (select w from pawl_data.workflow w order by name) x \gset
set session authorization :"bound";
select throws_ok($$select pawl.add_step('test.flow', 'mine', '{first}')$$, 'PW007', null, 'add_step');
select throws_ok($$select pawl.add_step('test.flow', 'first')$$, 'PW007', null, 'add_step, of one that is there');
select throws_ok($$select pawl.apply_flow('{"flow": "test.flow", "steps": []}')$$, 'PW007', null, 'apply_flow');
select throws_ok($$select pawl.delete_flow('test.flow')$$, 'PW007', null, 'delete_flow');
select throws_ok($$select pawl.alter_workflow('test.workflow', '{"priority": 1}')$$, 'PW007', null, 'alter_workflow');
select throws_ok($$select pawl.create_workflow('test.mine')$$, 'PW007', null, 'create_workflow');
select throws_ok($$select pawl.create_workflow('test.workflow')$$, 'PW007', null, 'create_workflow, of one that is there');
select throws_ok($$select pawl.create_flow('test.mine')$$, 'PW007', 'pawl.create_flow concerns every tenant, and the role is bound to one', 'create_flow');
select throws_ok($$select pawl.set_lane('test.workflow', null, 5, tenant => 'a')$$, 'PW007', null, 'set_lane');
select throws_ok($$select pawl.pause_lane('test.workflow', null, tenant => 'a')$$, 'PW007', null, 'pause_lane');
select throws_ok($$select pawl.resume_lane('test.workflow', null, tenant => 'a')$$, 'PW007', null, 'resume_lane');
reset session authorization;
select is((select string_agg(name, ' ') from pawl_data.flow_step where step_no > 0), 'first', 'no step was added');
select is((select md5(string_agg(x::text, ' ')) from (select w from pawl_data.workflow w order by name) x), :'before', 'no workflow was made or changed');
select is((select count(*) from pawl_data.queue), 3::bigint, 'nor has a queue appeared');
drop owned by :"bound";
drop role :"bound";
select * from finish();
