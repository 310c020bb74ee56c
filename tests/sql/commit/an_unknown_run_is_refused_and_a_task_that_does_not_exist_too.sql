-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select results_eq(format('select answer, reason from t.item(%s, pawl.make_id(), 1, ''complete'', null, ''1'')', :s), $$values ('refused', 'no such run')$$, 'a run that never was');
select is((select answer from pawl.commit(:s, array[:'r'::uuid], array[:f], array['complete'], payloads => array['1'], tasks => array[7])), 'refused', 'another task of a run');
select is(t.state(:'r'), 'RUNNING', 'the run goes on');

select * from finish();
