-- SPDX-License-Identifier: Apache-2.0
select plan(8);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'step_error', 'a#1', '{"code": "declined", "n": 1.50}', null, 1), 'ok', 'a final failure');
select is(t.answer(:s, :'r', :f, 'release'), 'ok', 'another claim replays');
select fence as f, record -> 'steps' -> 0 as step from t.one(:s) \gset
select is(:'step'::json ->> 'state', 'ERROR', 'the record says so');
select is((:'step'::json -> 'error')::text, '{"code": "declined", "n": 1.50}', 'with the same error');
select is((select value ->> 'state' from pawl.step(:s, :'r', :f, 'a', '1')), 'ERROR', 'it cannot become a success in this round');
select throws_ok(format('select t.answer(%s, %L, %s, ''step'', ''a#1'', ''1'', null, 1)', :s, :'r', :f), '23505', null, 'nor by the set-wise form');
select is((select answer from pawl.step(:s, :'r', :f, 'b', '1')), 'ok', 'code that handles the error goes on');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'and may end well');

select * from finish();
