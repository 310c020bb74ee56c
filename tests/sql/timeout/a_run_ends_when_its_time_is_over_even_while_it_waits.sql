-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select pawl.create_workflow('limited.flow', run_timeout => '1 min') \g /dev/null
select t.session(lease => '1 day') as s \gset
select t.run('limited.flow') as r \gset
select fence as f from t.one(:s) \gset
select pawl.sleep(:s, :'r', :f, 'nap', '1 day') \g /dev/null
select t.later('59 s') \g /dev/null
select is(t.state(:'r'), 'PAUSED sleep', 'it sleeps');
select t.later('1 s') \g /dev/null
select is(t.state(:'r'), 'ERROR', 'its time is over');
select is((select error ->> 'code' from pawl.result(:'r')), 'timeout', 'with the code timeout');
select is((select count(*) from pawl_data.wait), 0::bigint, 'nothing is left behind');

select * from finish();
