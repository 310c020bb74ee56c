-- SPDX-License-Identifier: Apache-2.0
-- A client's clock may lag by up to an hour; what counts is when the event was emitted.
select plan(2);
select t.session() as s \gset
select pawl.make_id() as e \gset
select t.later('30 min', :s);
select run_id as r, fence as f from t.held(:s) \gset
select t.later('1 s', :s);
select is((select answer from pawl.emit('paid', '{"n": 1}', id => :'e')), 'ok', 'emitted after the trigger, with an id made before it');
select is((select value #>> '{output,n}' from pawl.wait_event(:s, :'r', :f, 'w', 'paid')), '1', 'the wait finds it');
select * from finish();
