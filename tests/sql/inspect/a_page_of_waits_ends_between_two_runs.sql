-- SPDX-License-Identifier: Apache-2.0
-- The next page begins behind the last run of this one, so the rest of that would be on none.
select plan(4);
select t.session() as s \gset
create function pg_temp.waits(n int) returns void language plpgsql as $$
declare
    v record;
    s bigint := (select session_id from pawl_data.worker);
begin
    select * into v from t.held(s);
    perform t.item(s, v.run_id, v.fence, 'signal', format('s%s#1', i), seq => i) from generate_series(1, n) i;
    perform t.item(s, v.run_id, v.fence, 'suspend');
    perform pawl.test_clock_advance('1 s');
end $$;
select pg_temp.waits(3), pg_temp.waits(3), pg_temp.waits(1) \g /dev/null
select is((select string_agg(name, ' ') from pawl.list_waits(max_rows => 5)), 's1#1 s2#1 s3#1', 'a run that does not fit is left out');
select max(run_id::text) as cursor from pawl.list_waits(max_rows => 5) \gset
select is((select string_agg(name, ' ') from pawl.list_waits(max_rows => 5, cursor => :'cursor')), 's1#1 s2#1 s3#1 s1#1', 'and is on the next page');
select is((select count(distinct run_id) || ' ' || count(*) from pawl.list_waits(max_rows => 6)), '2 6', 'two that fit');
select is((select string_agg(name, ' ') from pawl.list_waits(max_rows => 2)), 's1#1 s2#1', 'of one that has more than a page there is what fits');
select * from finish();
