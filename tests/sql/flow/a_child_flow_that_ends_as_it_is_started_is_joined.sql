-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select pawl.create_flow('in.flow') as c \gset
select pawl.add_step('in.flow', 'each', '{}', '{"condition": {"/run/run": 9}}') as c \gset
select pawl.create_flow('out.flow') as c \gset
select pawl.add_step('out.flow', 'kid', '{}', '{"workflow": "in.flow"}') as c \gset
select pawl.add_step('out.flow', 'kids', '{}', '{"workflow": "in.flow", "map": "run"}') as c \gset
select run_id as r from pawl.trigger('out.flow', '[1, 2]') \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"kid": {"each": null}, "kids": [{"each": null}, {"each": null}]}', 'nothing to do');
select is((select count(*) from pawl_data.task) + (select count(*) from pawl_data.wait) + (select count(*) from pawl_data.gate), 0::bigint, 'nothing is left');
select pawl.create_flow('bad.flow') as c \gset
select pawl.add_step('bad.flow', 'must', '{}', '{"condition": {"/run/run": 9}, "unmet": "fail"}') as c \gset
select pawl.create_flow('top.flow') as c \gset
select pawl.add_step('top.flow', 'kids', '{}', '{"workflow": "bad.flow", "map": "run"}') as c \gset
select run_id as r from pawl.trigger('top.flow', '[1, 2, 3]') \gset
select is(t.state(:'r'), 'ERROR', 'a child that fails as it is started');
select is((select count(*) from pawl.list_runs('bad.flow')), 1::bigint, 'no other is started then');
select is((select count(*) from pawl_data.task) + (select count(*) from pawl_data.wait) + (select count(*) from pawl_data.gate), 0::bigint, 'nothing is left');
select * from finish();
