-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session('{*}', '1 day') as s \gset
select run_id as a, fence as af from t.held(:s) \gset
select run_id as b, fence as bf from t.held(:s) \gset
select pawl.now() as began \gset
select answer from pawl.wait_signal(:s, :'a', :af, 'go') \g /dev/null
select answer from pawl.sleep(:s, :'b', :bf, 'long', '90 days') \g /dev/null
select t.later('100 days', :s) \g /dev/null
select pawl.signal(:'a', 'go', '1') \g /dev/null
select count(*) from pawl.claim(:s, 10) \g /dev/null
select ok(abs(date_part('epoch', (select (steps -> 0 ->> 'started_at')::timestamptz from pawl.get_run(:'a')) - :'began'::timestamptz)) < 0.002, 'a signal that came after months');
select ok(abs(date_part('epoch', (select (steps -> 0 ->> 'started_at')::timestamptz from pawl.get_run(:'b')) - :'began'::timestamptz)) < 0.002, 'a sleep of months');

select * from finish();
