-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select pawl.create_workflow('one.flow', max_attempts => 1) \g /dev/null
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s, 'one.flow') \gset
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'retry', 'a#1', '{}', null, 1)), 'true', 'a step');
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'fail', null, '{"code": "x"}')), 'true', 'a handler');
select is(t.state(:'r'), 'ERROR', 'the run has ended');

select * from finish();
