-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select pawl.create_workflow('limited.flow', run_timeout => '1 min') \g /dev/null
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s, 'limited.flow') \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'ok', 'in time');
select t.later('2 min') \g /dev/null
select is(t.answer(:s, :'r', :f, 'step', 'b#1', '1', null, 2), 'lease_lost', 'a late step');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'lease_lost', 'a late end is not taken for done');
select is((select status from pawl.result(:'r')), 'ERROR', 'it stays an error');

select * from finish();
