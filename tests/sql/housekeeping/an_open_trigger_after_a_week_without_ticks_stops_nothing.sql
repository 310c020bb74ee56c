-- SPDX-License-Identifier: Apache-2.0
-- Nobody has done housekeeping for so long that there are no partitions. A plain trigger writes to none, so it makes none; a call that needs
-- one makes that one, and is not waited for. A statement that waits is cancelled after 20 s.
select plan(14);
select pawl.create_workflow('test.flow') \g /dev/null

set statement_timeout = '20s';
create function pg_temp.forget() returns void language plpgsql as $$
declare
    v_name text;
begin
    for v_name in select c.relname from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relispartition and c.relkind = 'r' loop
        execute format('drop table pawl_data.%I', v_name);
    end loop;
    update pawl_data.setting set partitions_until = pawl.now() - interval '2 days';
    update pawl_data.chore set due_at = 'infinity';
end
$$;
create function pg_temp.made() returns text language sql as $$
    select coalesce(string_agg(regexp_replace(c.relname, '_[0-9]+', ''), ' ' order by c.relname), 'none')
    from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relispartition and c.relkind = 'r'
$$;
select t.session(lease => '1 hour') as s \gset

select pg_temp.forget() \g /dev/null
select t.other_holds('select run_id::text from pawl.trigger(''test.flow'')') \g /dev/null
select lives_ok('select run_id from pawl.trigger(''test.flow'')', 'while a trigger is open, another one');
select lives_ok(format('select run_id from pawl.claim(%s, 1)', :s), 'a claim');
select lives_ok('select answer from pawl.emit(''x'')', 'an event');
select lives_ok('select run_id from pawl.list_runs()', 'and a list go on');
select t.dblink_exec('other', 'commit') \g /dev/null
select t.dblink_disconnect('other') \g /dev/null
select is(pg_temp.made(), 'event', 'only the event has made a partition');

select pg_temp.forget() \g /dev/null
select t.other_holds('select run_id::text from pawl.trigger(''test.flow'', to_json(repeat(''x'', 5000)))') \g /dev/null
select lives_ok('select run_id from pawl.trigger(''test.flow'')', 'while one with a large input is open, a plain trigger goes on');
select lives_ok('select answer from pawl.emit(''x'')', 'and an event');
select throws_ok('select run_id from pawl.trigger(''test.flow'', to_json(repeat(''x'', 5000)))', 'PW010', null, 'another one with a large input is to be sent again');
select run_id as r, fence as f from t.one(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'ok', 'a step is recorded');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'a run ends');
select t.dblink_exec('other', 'commit') \g /dev/null
select lives_ok('select run_id from pawl.trigger(''test.flow'', to_json(repeat(''x'', 5000)))', 'sent again, it is taken');
select is(pg_temp.made(), 'event input run step', 'each has made what it wrote to');

update pawl_data.chore set due_at = '-infinity' where chore = 'partitions';
select pawl.housekeep() \g /dev/null
select is((select count(*) from pawl_data.setting where partitions_until > pawl.now() + interval '7 days'), 1::bigint, 'housekeeping makes the others');
select is((select count(*) from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relispartition and c.relkind = 'r'), 63::bigint, 'of nine days');

select t.dblink_disconnect('other') \g /dev/null
select * from finish();
