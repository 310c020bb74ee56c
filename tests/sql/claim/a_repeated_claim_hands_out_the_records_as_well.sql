-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'step', 'a#1', '"done"', null, 1), t.answer(:s, :'r', :f, 'release') \g /dev/null
select record -> 'steps' as first from pawl.claim(:s, 1, request => 7) \gset
select is(:'first'::json -> 0 ->> 'output', 'done', 'the first answer has the record');
select is((select (record -> 'steps')::text from pawl.claim(:s, 1, request => 7)), :'first', 'the repeated one too');
select is((select input::text from pawl.claim(:s, 1, request => 7)), '{}', 'and the input');

select * from finish();
