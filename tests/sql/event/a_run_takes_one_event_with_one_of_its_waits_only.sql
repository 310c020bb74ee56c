-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'a/w#1', 'option', json_build_object('topic', 'x')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'b/w#1', 'option', json_build_object('topic', 'x')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok ok', 'two branches wait for the same topic');
select is((select woken from pawl.emit('x', '1')), 1, 'one event is for one of them');
select is((select count(*) from pawl.list_waits(:'r')), 1::bigint, 'the other still waits');
select is((select woken from pawl.emit('x', '2')), 1, 'the next event is for the other');
select is((select count(*) from pawl.list_waits(:'r')), 0::bigint, 'and now none waits');
select * from finish();
