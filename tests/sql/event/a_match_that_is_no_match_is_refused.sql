-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/a": 1, "/b": 2, "/c": 3, "/d": 4, "/e": 5}')), 'refused', 'five paths');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"id": 1}')), 'refused', 'a path without a slash');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/id": [1]}')), 'refused', 'an array for a value');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/id": {}}')), 'refused', 'an object for a value');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '[1]')), 'refused', 'an array for a match');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '"/id"')), 'refused', 'a scalar for a match');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => json_build_object('/' || repeat('p', 200), 1))), 'refused', 'a path that is too long');
select is((select count(*) from pawl_data.wait), 0::bigint, 'nothing waits');
select * from finish();
