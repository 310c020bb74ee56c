-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'step', 'gone#1', '1', null, 1) \g /dev/null
select is(t.answer(:s, :'r', :f, 'complete', null, '1', '{"unused": ["gone#1"]}'), 'ok', 'the end is taken');
select is(t.state(:'r'), 'SUCCESS', 'it is a success');
select is((select what || (detail ->> 0) from pawl_data.audit where run_id = :'r'), 'unused_recordsgone#1', 'and a row says what was left');

select * from finish();
