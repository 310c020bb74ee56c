-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'retry', 'a#1', '{}', '{"permanent": true, "retry_after_ms": 5}', 1)), 'true', 'a step');
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'retry', 'b#1', '{}', '{"permanent": false}', 1)), 'false', 'said to be false');
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'fail', null, '{}', '{"permanent": true}')), 'true', 'a handler');
select is(t.state(:'r'), 'ERROR', 'the run has ended');

select * from finish();
