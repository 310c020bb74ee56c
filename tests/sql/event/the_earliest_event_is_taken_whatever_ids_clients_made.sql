-- SPDX-License-Identifier: Apache-2.0
-- The second client's clock is a quarter of a second behind, so its event has the lower id.
select plan(2);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl._id_make(pawl.now()) as first, pawl._id_make(pawl.now() - interval '250 ms') as second \gset
select answer as c from pawl.emit('x', '1', id => :'first') \gset
select t.later('50 ms', :s);
select answer as c from pawl.emit('x', '2', id => :'second') \gset
select is((select value ->> 'output' from pawl.wait_event(:s, :'r', :f, 'w', 'x')), '1', 'the one that was emitted first');
select is((select value ->> 'output' from pawl.wait_event(:s, :'r', :f, 'w2', 'x')), '2', 'then the other');
select * from finish();
