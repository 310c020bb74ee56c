-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as done, fence as f from t.held(:s) \gset
select is((select answer from pawl.complete(:s, :'done', :f)), 'ok', 'one has ended');
select run_id as failed, fence as f from t.held(:s) \gset
select is((select answer from pawl.fail(:s, :'failed', :f, '{}', true)), 'ok', 'one has failed');
select t.run() as queued \gset
select bag_eq(format('select answer from pawl.cancel(array[%L, %L, %L, %L, %L, null]::uuid[])', :'done', :'failed', :'queued', :'queued', gen_random_uuid()),
    array['SUCCESS', 'ERROR', 'ok', 'already', 'not_found', 'not_found'], 'an answer for each');
select throws_ok($$select * from pawl.cancel(array_fill(gen_random_uuid(), array[1001]))$$, 'PW009', null, 'at most a thousand');
select is((select count(*) from pawl.cancel('{}')), 0::bigint, 'none');
select is((select count(*) from pawl.cancel(null)), 0::bigint, 'no list');
select * from finish();
