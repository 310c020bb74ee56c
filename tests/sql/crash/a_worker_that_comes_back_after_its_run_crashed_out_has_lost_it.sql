-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session(lease => '1 s') as s \gset
select t.run() as r \gset
update pawl_data.setting set crash_max = 1;
select fence as f from t.one(:s) \gset
select t.later('2 s') \g /dev/null
select is((select error ->> 'code' from pawl.result(:'r')), 'crashed', 'the run has ended');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'lease_lost', 'a late end is not taken for done');

select * from finish();
