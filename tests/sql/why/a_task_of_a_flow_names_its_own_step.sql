-- SPDX-License-Identifier: Apache-2.0
-- Its worker holds another task of the same run, and has told of a step in there.
select plan(3);
select t.flow('test.two', '[["one"], ["two"]]') \g /dev/null
select t.session(name => 'web-3') as s \gset
select run_id as r from pawl.trigger('test.two') \gset
select is((select count(*) from pawl.claim(:s, 2)), 2::bigint, 'both are held');
select pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'task', t.task_of(:'r', 'two'), 'step', 'ab#1'))) \g /dev/null
select is(pawl.why(:'r'), 'Step one (1 of 2 open tasks): running on worker web-3 (lease valid for 30 s).', 'it is in no step');
select pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'task', t.task_of(:'r', 'one'), 'step', 'cd#1'))) \g /dev/null
select is(pawl.why(:'r'), 'Step one (1 of 2 open tasks): running step cd#1 on worker web-3 (lease valid for 30 s).', 'now it is');
select * from finish();
