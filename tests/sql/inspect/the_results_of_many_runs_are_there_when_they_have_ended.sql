-- SPDX-License-Identifier: Apache-2.0
select plan(9);
create function pg_temp.shown(p_runs uuid[]) returns text language sql as $$
    select string_agg(concat_ws(' ', r.status, r.output, r.error ->> 'message'), ', ')
    from pawl.results(p_runs) r
$$;
select t.session() as s \gset
select run_id as a, fence as f from t.held(:s) \gset
select pawl.complete(:s, :'a', :f, '{"out": 1}') \g /dev/null
select run_id as b, fence as f from t.held(:s) \gset
select run_id as c, fence as g from t.held(:s) \gset
select is(pg_temp.shown(array[:'c', :'a', :'b']::uuid[]), 'SUCCESS {"out": 1}', 'only of runs that have ended');
select pawl.fail(:s, :'b', :f, '{"message": "boom"}', true), pawl.cancel(array[:'c'::uuid]) \g /dev/null
select is(pg_temp.shown(array[:'b', :'c', :'a']::uuid[]), 'ERROR boom, SUCCESS {"out": 1}', 'in the order given; one that is ending has not ended');
select pawl.complete(:s, :'c', :g, '1') \g /dev/null
select is((select string_agg(r.status, ' ') from pawl.results(array[:'c', :'b', :'a']::uuid[]) r), 'CANCELLED ERROR SUCCESS', 'then all of them');
select is((select array_agg(r.run_id) from pawl.results(array[:'c', :'b']::uuid[]) r), array[:'c', :'b']::uuid[], 'with their ids');
select is(pg_temp.shown(array[gen_random_uuid(), null, :'a']), 'NOT_FOUND, SUCCESS {"out": 1}', 'an unknown run is not waited for');
select is(pg_temp.shown('{}'), null, 'no runs');
select is(pg_temp.shown(null), null, 'null');
select throws_ok('select * from pawl.results(array_fill(gen_random_uuid(), array[1001]))', 'PW009', null, 'too many');
create or replace function pawl._claim_max() returns bigint language plpgsql immutable set search_path to pg_catalog, pg_temp as $$ begin return 12; end $$;
select is((select string_agg(r.status, ' ') from pawl.results(array[:'a', :'b', :'c']::uuid[]) r), 'SUCCESS', 'at least one, and as many as fit');
select * from finish();
