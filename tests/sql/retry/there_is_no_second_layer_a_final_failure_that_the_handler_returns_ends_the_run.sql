-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'retry', 'a#1', '{"code": "x"}', '{"permanent": true}', 1)), 'true', 'the step has failed for good');
select is(t.answer(:s, :'r', :f, 'fail', null, '{"code": "x"}', '{"final": true}'), 'ok', 'the handler returns it');
select is(t.state(:'r'), 'ERROR', 'the run ends after one attempt, although its workflow has five');
select is((select execution from pawl.get_run(:'r')), 1, 'one attempt');

select * from finish();
