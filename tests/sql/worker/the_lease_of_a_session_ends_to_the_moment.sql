-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session(lease => '500 ms') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.later('500 ms') \g /dev/null
select is(t.state(:'r'), 'RUNNING', 'live up to its end');
select t.later('1 ms') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'and swept after it');

select * from finish();
