-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select pawl.create_workflow('kid.flow', max_attempts => 1) as c \gset
select pawl.create_flow('p.flow') as c \gset
select pawl.add_step('p.flow', 'kid', '{}', '{"workflow": "kid.flow"}') as c \gset
select run_id as r from pawl.trigger('p.flow', '5') \gset
select run_id as k, fence as f from t.one(:s) \gset
select is((select answer from pawl.fail(:s, :'k', :f, '{"message": "no"}')), 'ok', 'the child fails');
select is((select status || ' ' || (error #>> '{error,code}') from pawl.result(:'r')), 'ERROR child_failed', 'and the run with it');
select * from finish();
