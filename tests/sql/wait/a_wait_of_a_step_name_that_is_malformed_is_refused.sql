-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'Nap', '1 s')), 'refused', 'upper case');
select is((select answer from pawl.sleep(:s, :'r', :f, 'rollback:nap', '1 s')), 'refused', 'a reserved prefix');
select is((select answer from pawl.sleep(:s, :'r', :f, null, '1 s')), 'refused', 'no name');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'ev', null)), 'refused', 'no topic');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'ev', '')), 'refused', 'an empty topic');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'ev', 'x', repeat('k', 501))), 'refused', 'a key that is too long');
select is((select answer from t.item(:s, :'r', :f, 'signal', 'go#1', null, '{"signal": "Not A Name"}')), 'refused', 'a signal that nobody could send');
select is((select count(*) from pawl_data.wait), 0::bigint, 'nothing was opened');
select is(t.state(:'r'), 'RUNNING', 'the run is as it was');
select * from finish();
