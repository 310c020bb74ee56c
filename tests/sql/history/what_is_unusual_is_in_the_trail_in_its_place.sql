-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session(lease => '1 day') as keeper \gset
select t.session(lease => '1 s') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('1 ms') \g /dev/null
select t.answer(:s, :'r', :f, 'retry', 'a#1', '{"code": "x"}', null, 1) \g /dev/null
select t.later('2 s') \g /dev/null
select t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1) \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select pawl.pause(array[:'r'::uuid], 'look at it', 'ann') \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select pawl.resume(array[:'r'::uuid], 'ann') \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select pawl.cancel(array[:'r'::uuid], 'no more', by => 'bob') \g /dev/null
select results_eq(format('select what, who from pawl.history(%L)', :'r'), $$values ('triggered', null), ('started', 'worker'), ('attempt_failed', null), ('lease_lost', null),
    ('late_result', null), ('pause', 'ann'), ('resume', 'ann'), ('cancel', 'bob'), ('ended', 'bob')$$, 'each in its place');
select throws_ok('select * from pawl.history(pawl.make_id())', 'PW001', null, 'a run that never was');

select * from finish();
