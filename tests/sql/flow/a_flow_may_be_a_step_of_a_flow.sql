-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select t.flow('in.flow', '[["x"], ["y", "x"]]');
select pawl.create_flow('mid.flow') as c \gset
select pawl.add_step('mid.flow', 'in', '{}', '{"workflow": "in.flow"}') as c \gset
select pawl.create_flow('out.flow') as c \gset
select pawl.add_step('out.flow', 'mid', '{}', '{"workflow": "mid.flow"}') as c \gset
select run_id as r from pawl.trigger('out.flow', '1') \gset
select is((select count(*) from pawl.list_runs()), 3::bigint, 'a run in a run in a run');
select t.work(:s) \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"mid": {"in": {"y": "y"}}}', 'all end together');
select is((select count(*) from pawl_data.task), 0::bigint, 'nothing is left');
select * from finish();
