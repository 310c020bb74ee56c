-- SPDX-License-Identifier: Apache-2.0
select plan(1);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.item(:s, :'r', :f, 'retry', 'a#1', '{"message": "connection refused"}', '{"retry_after_ms": 41000}', 1) \g /dev/null
select results_eq(format('select what, detail ->> ''step'', detail ->> ''failures'', detail -> ''error'' ->> ''message'', (detail ->> ''next_attempt_at'')::timestamptz - at from pawl.history(%L) where what = ''attempt_failed''', :'r'),
    $$values ('attempt_failed', 'a#1', '1', 'connection refused', interval '41 s')$$, 'one row, in the transaction of the failure');

select * from finish();
