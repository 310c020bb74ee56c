-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s, input => to_json(repeat('x', 5000))) \gset
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'ended');
select run_id as k from pawl.fork(:'r', input => '{"new": 1}') \gset
select is((select input::text from pawl.get_run(:'k')), '{"new": 1}', 'another');
select run_id as k from pawl.fork(:'r') \gset
select is((select length(input #>> '{}') from pawl.get_run(:'k')), 5000, 'or the same, also a large one');
select * from finish();
