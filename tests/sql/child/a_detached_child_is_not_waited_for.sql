-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select value from t.item(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "kid.flow", "detached": true}') \gset
select is(:'value'::json ->> 'state', 'SUCCESS', 'the step is done at once');
select is((select count(*) from pawl.list_waits(:'r')), 0::bigint, 'nothing waits');
select is((select value ->> 'output' from t.item(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "kid.flow", "detached": true}')), :'value'::json ->> 'output', 'asked again it is the same child');
select is((select count(*) from pawl.list_runs('kid.flow')), 1::bigint, 'one child');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'the parent is cancelled');
select is((select answer from pawl.complete(:s, :'r', :f)), 'cancelled', 'and ends');
select t.later('1 s', :s);
select is(t.state((:'value'::json #>> '{output,run_id}')::uuid), 'QUEUED', 'the detached child lives on');
select * from finish();
