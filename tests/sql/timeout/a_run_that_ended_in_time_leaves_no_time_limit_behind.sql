-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select pawl.create_workflow('limited.flow', run_timeout => '1 min') \g /dev/null
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s, 'limited.flow') \gset
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'in time');
select is((select count(*) from pawl_data.wait), 0::bigint, 'no limit is left');
select t.later('2 min') \g /dev/null
select is(t.state(:'r'), 'SUCCESS', 'it stays a success');

select * from finish();
