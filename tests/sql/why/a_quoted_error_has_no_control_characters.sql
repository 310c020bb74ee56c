-- SPDX-License-Identifier: Apache-2.0
-- A terminal would obey them, and the answer is one line.
select plan(2);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select answer from pawl.fail(:s, :'r', :f, json_build_object('message', e'one\ntwo\033[31m\u009bred'), final => true) \g /dev/null
select is(pawl.why(:'r'), 'Ended ERROR 0 s ago: one two [31m red. Retry it with pawl.retry().', 'of a run that has ended');
select run_id as r, fence as f from t.held(:s) \gset
select pawl.pause(array[:'r'::uuid], by => e'op\r\n', why => e'a\tb') \g /dev/null
select unalike(pawl.why(:'r'), e'%\n%', 'and of one that is paused');
select * from finish();
