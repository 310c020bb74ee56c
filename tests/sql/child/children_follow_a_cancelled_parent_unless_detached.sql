-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'a/kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'b/kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok ok', 'two children');
select run_id as k, fence as kf from t.one(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'k', 'fence', :kf, 'kind', 'child', 'name', 'kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'k', 'fence', :kf, 'kind', 'suspend'))), 'ok ok', 'one of them has a child of its own');
select run_id as h, fence as hf from t.one(:s) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid], 'enough')), 'ok', 'the parent is cancelled');
select is(t.state(:'r'), 'CANCELLED', 'it ends at once');
select t.later('1 s', :s);
select t.later('1 s', :s);
select is((select string_agg(status, ' ' order by status) from pawl.list_runs('kid.flow') where run_id <> :'h'), 'CANCELLED CANCELLED', 'children and grandchildren that nobody holds have ended');
select is((select notice from pawl.heartbeat(:s) where run_id = :'h'), 'cancelled', 'the holder of the other is told');
select is((select answer from pawl.complete(:s, :'h', :hf)), 'cancelled', 'and lets go');
select is(t.state(:'h'), 'CANCELLED', 'so that it ends too');
select is((select count(*) from pawl_data.wait), 0::bigint, 'no wait is left');
select * from finish();
