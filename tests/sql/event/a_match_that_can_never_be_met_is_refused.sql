-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer || ': ' || reason from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/a": 1, "/a": 2}')), 'refused: match has the same path twice', 'the same path with two values');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/a": 1, "/a": 1}')), 'refused', 'with the same value');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/a": 1, "/\u0061": 2}')), 'refused', 'written with an escape');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/a~": 1, "/a~0": 2}')), 'refused', 'written as two pointers to the same place');
select is((select answer || ': ' || reason from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/a": 1e999999}')), 'refused: a number of the match is beyond the range of numeric', 'a number that no payload can be compared with');
select is((select answer from t.item(:s, :'r', :f, 'event', 'w#1', option => '{"topic": "x", "match": {"/a": 1e999999}}')), 'refused', 'in the plain commit as well');
select is((select count(*) from pawl_data.wait), 0::bigint, 'nothing waits');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x', match => '{"/a~0b": 1, "/a~1b": 2, "/a": 1e1000}')), 'ok', 'different paths and a large number are accepted');
select pawl.create_flow('f.flow') \gset
select throws_ok($$select pawl.add_step('f.flow', 'a', '{}', '{"condition": {"/run/a": 1, "/run/a": 2}}')$$, 'PW003', 'condition of step "a": condition has the same path twice', 'nor is such a condition accepted');
select * from finish();
