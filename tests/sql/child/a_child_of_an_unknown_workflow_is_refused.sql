-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer || ': ' || reason from t.item(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "no.such"}')), 'refused: unknown workflow "no.such"', 'unknown');
select is((select answer from t.item(:s, :'r', :f, 'child', 'kid#2', '{}', '{}')), 'refused', 'not named');
select is((select answer from t.item(:s, :'r', :f, 'child', 'kid#3', '{}')), 'refused', 'no option at all');
select is(t.state(:'r'), 'RUNNING', 'the parent is as it was');
select is((select count(*) from pawl.list_runs()), 1::bigint, 'no child was made');
select * from finish();
