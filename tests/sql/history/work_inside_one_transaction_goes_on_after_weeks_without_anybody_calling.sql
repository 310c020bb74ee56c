-- SPDX-License-Identifier: Apache-2.0
-- Housekeeping does not run inside a transaction block of the caller, so partitions may be missing there.
select plan(3);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'complete', null, '1') \g /dev/null
select pawl.test_clock_advance('60 days') \g /dev/null
begin;
select t.session() as s \gset
select t.run() as r \gset
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'ok', 'a step');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'the end');
commit;
select is(t.state(:'r'), 'SUCCESS', 'it has ended');

select * from finish();
