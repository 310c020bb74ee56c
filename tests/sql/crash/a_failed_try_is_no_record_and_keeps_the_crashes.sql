-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session(lease => '1 day') as keeper \gset
select t.run() as r \gset
select count(*) from pawl.claim(t.session(lease => '1 s')) \gset
select t.later('2 s') \g /dev/null
select fence as f from t.one(:keeper) \gset
select is(t.answer(:keeper, :'r', :f, 'retry', 'a#1', '{}', null, 1), 'ok', 'a failed try');
select is((select crashes from pawl_data.task), 1::smallint, 'crashes are counted apart from failures');
select is((select record -> 'retries' -> 'a#1' ->> 'n' from pawl._held(:keeper, null)), '1', 'and failures apart from crashes');

select * from finish();
