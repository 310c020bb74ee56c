-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'drift', 'a#1', null, '{"recorded": "sleep", "asked": "child"}'), 'ok', 'it says so');
select is(t.state(:'r'), 'PAUSED drift', 'the run is paused');
select matches(pawl.why(:'r'), 'step a#1 is recorded as sleep, the code asks for child', 'and says so');
select is_empty(format('select * from pawl.claim(%s)', :s), 'nobody claims it');

select * from finish();
