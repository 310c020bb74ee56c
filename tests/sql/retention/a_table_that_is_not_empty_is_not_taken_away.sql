-- SPDX-License-Identifier: Apache-2.0
-- The size of a past table is looked at before it is locked. What was written in between must not go with it.
select plan(4);
set statement_timeout = '20s';
select t.stop_clock();
update pawl_data.chore set due_at = 'infinity' where chore <> 'tables';
update pawl_data.chore set position = json_build_array(to_char(pawl.now() at time zone 'UTC' - interval '60 days', 'YYYYMMDD'), null, false, true) where chore = 'retention';
select pawl._make_partition('note', (pawl.now() at time zone 'UTC')::date - 60) \g /dev/null
select 'note_' || to_char(pawl.now() at time zone 'UTC' - interval '60 days', 'YYYYMMDD') as part \gset
select pg_get_userbyid(relowner) as owner from pg_class where oid = 'pawl_data.note'::regclass \gset
alter table pawl_data.:part owner to :owner;
-- The look says that it is empty, although a row is there by then.
create function pg_temp.sizes() returns text language sql as $$ select string_agg(p.name || ' ' || p.is_empty, ' ') from pawl._past_partitions(pawl.now()) p $$;
select is(pg_temp.sizes(), :'part' || ' true', 'an empty table of a past day');
create or replace function pawl._past_partitions(p_now timestamptz) returns table (parent text, name text, day date, is_empty boolean) language sql as $$
    select p.parent, p.name, p.day, true from pawl._partitions(array['note']) p where p.day < pawl._first_day(p.parent, p_now)
$$;
insert into pawl_data.note (run_id, note_no, task_no, at, kind, body) values (pawl._id_make(pawl.now() - interval '60 days'), 1, 0, pawl.now(), 'log', 'x');
update pawl_data.chore set due_at = '-infinity' where chore = 'tables';
select pawl._tick_tables() \g /dev/null
select is((select count(*) from pawl_data.note), 1::bigint, 'one that is filled stays');
select is((select last_error from pawl_data.chore where chore = 'tables'), null, 'without an error');
delete from pawl_data.note;
update pawl_data.chore set due_at = '-infinity' where chore = 'tables';
select pawl._tick_tables() \g /dev/null
select is(to_regclass('pawl_data.' || :'part'), null, 'empty again, it goes');
select * from finish();
