-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select pawl.create_workflow('strict.flow', strict_order => true) \g /dev/null
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s, 'strict.flow') \gset
select t.answer(:s, :'r', :f, 'step', 'gone#1', '1', null, 1) \g /dev/null
select is(t.answer(:s, :'r', :f, 'complete', null, '1', '{"unused": ["gone#1"]}'), 'refused', 'the end is not taken');
select is(t.state(:'r'), 'PAUSED drift', 'the run is paused');
select is(t.audit(:'r'), 'unused_records drift', 'and the audit says why');
select is(t.answer(:s, :'r', :f, 'complete', null, '1', '{"unused": []}'), 'lease_lost', 'whoever held it has lost it');

select * from finish();
