-- SPDX-License-Identifier: Apache-2.0
-- Another worker is lost with the first of its tasks.
select plan(4);
select t.flow('test.two', '[["one"], ["two"]]') \g /dev/null
select t.session('{test.two/one}', '5 s', 'web-1') as a, t.session('{test.two/two}', '1 h', 'web-2') as b \gset
select run_id as r from pawl.trigger('test.two') \gset
select run_id from t.one(:a) \g /dev/null
select run_id from t.one(:b) \g /dev/null
select is((select worker from pawl.get_run(:'r')), 'web-1', 'both work on it');
select pawl.test_clock_advance('6 s') \g /dev/null
select is((select concat_ws(' ', status, worker) from pawl.get_run(:'r')), 'RUNNING web-2', 'one goes on');
select is((select concat_ws(' ', status, worker) from pawl.list_runs()), 'RUNNING web-2', 'in a list, too');
select is(pawl.why(:'r'), 'Step two (1 of 2 open tasks): running on worker web-2 (lease valid for 60 min).', 'which is told');
select * from finish();
