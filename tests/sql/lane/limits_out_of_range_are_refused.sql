-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select pawl.create_workflow('test.flow') \g /dev/null
select throws_ok('select pawl.alter_workflow(''test.flow'', ''{"key_limit": 0}'')', 'PW003', 'key_limit must be between 1 and 100000', 'none');
select throws_ok('select pawl.alter_workflow(''test.flow'', ''{"key_limit": 100001}'')', 'PW003', null, 'too many');
select throws_ok('select pawl.alter_workflow(''test.flow'', ''{"key_limit": "x"}'')', '22P02', null, 'no number');
select throws_ok('select pawl.alter_workflow(''test.flow'', ''{"laned": true}'')', 'PW003', null, 'what the engine sets itself');
select throws_ok('select pawl.create_workflow(''other.flow'', key_limit => 0)', 'PW003', 'key_limit must be between 1 and 100000', 'nor when a workflow is created');
select t.flow('a.flow', '[["a"]]') \g /dev/null
select throws_ok('select pawl.alter_workflow(''a.flow'', ''{"key_limit": 1}'')', 'PW003', '"a.flow" is a flow, which cannot have a key_limit or a key_rate, or be fair', 'of a flow');
select is((select count(*) from pawl_data.lane_queue), 0::bigint, 'no lanes were made');
select * from finish();
