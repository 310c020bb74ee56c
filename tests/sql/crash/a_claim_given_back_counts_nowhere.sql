-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session(lease => '1 day') as s \gset
select t.run() as r \gset
create function pg_temp.give_back(s bigint) returns text language sql as $$
    select r.answer from t.one(s) o, pawl.release(s, o.run_id, o.fence) r
$$;
select is((select string_agg(distinct pg_temp.give_back(:s), ' ') from generate_series(1, 10)), 'ok', 'ten times');
select is((select execution || ' ' || crashes || ' ' || place::text from pawl_data.task), '0 0 r', 'no attempt, no crash, no suspect');
select is(t.audit(:'r'), '', 'nothing unusual');
select is((select fence from pawl_data.task), 10, 'only the fence has risen');

select * from finish();
