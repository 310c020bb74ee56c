-- SPDX-License-Identifier: Apache-2.0
-- Each quote in it could be the beginning of another one.
select plan(5);
set statement_timeout = '40s';
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create function pg_temp.seconds(payload text) returns float8 language plpgsql as $$
declare
    v_from timestamptz := clock_timestamp();
begin
    perform pawl._payload_problem(payload, 1048576);
    return date_part('epoch', clock_timestamp() - v_from);
end $$;
-- The best of three rounds, because machines may have other work. Tried from each quote in it, it takes thousands of times as long.
select cmp_ok((select min(pg_temp.seconds('"' || repeat('\"', 20000))) / min(pg_temp.seconds('"' || repeat('\"', 20000) || '"')) from generate_series(1, 3)), '<', 50::float8,
              'one that never ends takes about as long as one that does');
select is((select answer from pawl.commit_each(:s, array[:'r'::uuid], array[:f], array['step'], array['a#1'], array['"' || repeat('\"', 500000)])), 'refused', 'a megabyte is refused');
select is((select answer from pawl.commit_each(:s, array[:'r'::uuid], array[:f], array['step'], array['a#1'], array['"' || repeat('\"', 500000) || '\'])), 'refused', 'and half an escape behind them');
select is(pawl._payload_problem('["' || repeat('\"', 20000) || '", ' || repeat('[', 64) || repeat(']', 64) || ']', 1048576), 'payload is nested more than 64 deep', 'what stands behind a string counts');
select is(pawl._payload_problem('["' || repeat('\"[', 20000) || '"]', 1048576), null, 'and not what stands in it');
select * from finish();
