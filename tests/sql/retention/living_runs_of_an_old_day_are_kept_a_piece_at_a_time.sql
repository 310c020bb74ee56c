-- SPDX-License-Identifier: Apache-2.0
-- Runs that live on are kept apart before the partitions of their day are emptied. What is kept must not be walked again for
-- each few that are not; one that somebody holds, or that lives again behind the walk, must not be forgotten.
select plan(11);

set statement_timeout = '60s';
select t.session(lease => '1 day') as s \gset
select run_id as failed, fence as f from t.held(:s) \gset
select t.answer(:s, :'failed', :f, 'fail', null, '"broken"', '{"final": true}') \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select run_id as first, fence as f from t.held(:s) \gset
select t.answer(:s, :'first', :f, 'step', 'a#1', '"old"', null, 1) \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select count(*) as n from pawl.trigger_many('test.flow', array(select '{}'::json from generate_series(1, 1500)), delay => '60 days') \gset
select to_char(pawl._id_time(:'first') at time zone 'UTC', 'YYYYMMDD') as day \gset
-- Of the earlier days that the install has made nothing lives.
select pawl.test_clock_advance('17 days') \g /dev/null
update pawl_data.chore set due_at = 'infinity' where chore <> 'retention';

create function round(out kept bigint, out pages bigint) language plpgsql as $$
begin
    perform pawl.test_clock_advance('1 min');
    kept := (select count(*) from pawl_data.task t where t.kept);
    pages := pg_stat_get_xact_blocks_fetched('pawl_data.task_pkey'::regclass) + pg_stat_get_xact_blocks_fetched('pawl_data.task'::regclass);
    perform pawl._do_chore(pawl.now(), false);
    pages := pg_stat_get_xact_blocks_fetched('pawl_data.task_pkey'::regclass) + pg_stat_get_xact_blocks_fetched('pawl_data.task'::regclass) - pages;
    kept := (select count(*) from pawl_data.task t where t.kept) - kept;
end
$$;
create function rounds(most int) returns bigint language plpgsql as $$
declare
    v record;
    v_pages bigint := 0;
begin
    for i in 1..most loop
        select r.* into v from round() r;
        v_pages := greatest(v_pages, v.pages);
        exit when v.kept = 0 and (select count(*) from pawl_data.task t where t.kept) > 0;
    end loop;
    return v_pages;
end
$$;
select t.other_holds(format('select t.run_id::text from pawl_data.task t where t.run_id = %L for update', :'first')) \g /dev/null
-- Events and earlier days first.
do $$ begin for i in 1..30 loop exit when exists (select from pawl_data.task t where t.kept); perform round(); end loop; end $$;
select is((select count(*) from pawl_data.task t where t.kept), 50::bigint, 'some at a time');
select is((select kept from round()), 50::bigint, 'and some more');
select cmp_ok(rounds(40)::int, '<', 1500, 'with as little work for the last as for the first');
select is((select count(*) from pawl_data.task t where not t.kept), 1::bigint, 'all but the one that somebody holds');
do $$ begin for i in 1..5 loop perform round(); end loop; end $$;
select isnt(pg_relation_size('pawl_data.step_' || :'day'), 0::bigint, 'whose day is not emptied');
select t.other_done() \g /dev/null

-- A truncate that finds a run alive begins the walk anew. Its position says that it is at the end.
update pawl_data.chore set position = json_build_array(:'day', pawl._id_floor(pawl.now()), false, false)::text where chore = 'retention';
select round() \g /dev/null
select isnt(pg_relation_size('pawl_data.step_' || :'day'), 0::bigint, 'nor when a run lives again behind the walk');
select is((select position from pawl_data.chore where chore = 'retention'), null, 'which begins anew');
select is((select answer from pawl.retry(array[:'failed'::uuid])), 'ok', 'another run lives again');
do $$ begin for i in 1..5 loop perform round(); end loop; end $$;
select is(pg_relation_size('pawl_data.step_' || :'day'), 0::bigint, 'at last the day is emptied');
select is((select count(*) from pawl_data.task t where not t.kept), 0::bigint, 'and all are kept');
select is((select string_agg(k.name || ' ' || k.run_id, ' ') from pawl_data.step_kept k), 'a#1 ' || :'first', 'with what they have recorded');

select * from finish();
