-- SPDX-License-Identifier: Apache-2.0
-- The input of a run of workflow crontab.NAME is a command that a worker executes. So no producer, worker or role of a tenant may choose it.
select * from no_plan();
select pawl.create_workflow('crontab.x') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
select throws_ok($$select pawl.trigger('crontab.x', '{"command": ["evil"]}')$$, 'PW003', null, 'no trigger');
select throws_ok($$select pawl.trigger_many('crontab.x', array['{"command": ["evil"]}']::json[])$$, 'PW003', null, 'nor many');
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s, 'w') \gset
select is(t.answer(:s, :'r', :f, 'child', 'c#1', '{"command": ["evil"]}', '{"workflow": "crontab.x"}'), 'refused', 'no child of a run');
select pawl.create_flow('f') \g /dev/null
select throws_ok($$select pawl.add_step('f', 'a', '{}', '{"workflow": "crontab.x"}')$$, 'PW003', null, 'no step of a flow');
select 'a_' || current_database() as a \gset
create role :a login;
select pawl.grant_role(:'a', x, 'a') from unnest(array['operator', 'worker', 'producer']) x \g /dev/null
set role :a;
select throws_ok($$select pawl.create_schedule('x', 'crontab.x', every => '1 h', input => '{"command": ["evil"]}')$$, 'PW007', null, 'no operator of a tenant');
reset role;
select pawl.create_schedule('x', 'crontab.x', every => '1 h', input => '{"command": ["date"]}', tenant => 'a') \g /dev/null
select pawl.test_clock_advance('1 h') \g /dev/null
call pawl.tick(true);
select run_id as c from pawl_data.task where tenant = 'a' \gset
select is((select input -> 'command' ->> 0 from pawl_data.task where run_id = :'c'), 'date', 'an operator that is not bound does');
select pawl.kill(array[:'c'::uuid]) \g /dev/null
set role :a;
select is((select answer from pawl.fork(:'c', input => '{"command": ["evil"]}')), 'refused', 'a fork with another input is refused');
select is((select answer from pawl.fork(:'c')), 'ok', 'with its own it is not');
reset role;
drop owned by :a;
drop role :a;
select * from finish();
