-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.item(:s, :'r', :f, 'retry', 'a#1', '{"code": "x"}', null, 1) \g /dev/null
select is((select (steps -> 0 ->> 'state') || (steps -> 0 -> 'error' ->> 'code') from pawl.get_run(:'r')), 'PAUSEDx', 'a failed try is shown');
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'ok', 'then it succeeds');
select is((select json_array_length(steps) || (steps -> 0 ->> 'state') || (steps -> 0 ->> 'attempt') from pawl.get_run(:'r')), '1SUCCESS2', 'as its second attempt');
select is(t.audit(:'r'), 'attempt_failed', 'and the failed try stays in the audit');

select * from finish();
