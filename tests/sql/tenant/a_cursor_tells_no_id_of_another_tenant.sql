-- SPDX-License-Identifier: Apache-2.0
-- A search that stops between the runs or events of another tenant returns a cursor that is no id; continuing from there finds each of
-- the tenant's own once.
select plan(11);
select 'cr_' || current_database() as reader \gset
create role :"reader" login;
select pawl.create_workflow('test.coded') \g /dev/null
select pawl.grant_role(:'reader', 'reader', 'mine') \g /dev/null
-- One of its own, many of another's, three times; the last many in one millisecond.
select run_id as first from pawl.trigger('test.coded', tenant => 'mine') \gset
select count(*) from pawl.trigger_many('test.coded', array_fill('{}'::json, array[10000]), tenant => 'theirs') \g /dev/null
select run_id as second from pawl.trigger('test.coded', tenant => 'mine') \gset
select count(*) from pawl.trigger_many('test.coded', array_fill('{}'::json, array[9990]), tenant => 'theirs') \g /dev/null
select run_id as third from pawl.trigger('test.coded', tenant => 'mine') \gset
select count(*) from pawl.trigger_many('test.coded', array_fill('{}'::json, array[10000]), tenant => 'theirs') \g /dev/null
select count(*) from pawl.trigger_many('test.coded', array_fill('{}'::json, array[50]), tenant => 'theirs') \g /dev/null
insert into pawl_data.event select pawl._event_id(pawl.now() - interval '1 s' + n * interval '1 us'), pawl.now(), case when n in (5, 10000) then 'mine' else 'theirs' end, 't', '', '{}' from generate_series(1, 20030) n;
create function t.pages(what text) returns table (id uuid, next_cursor uuid) language plpgsql as $$
declare
    v_cursor uuid;
begin
    for v_page in 1..20 loop
        v_cursor := next_cursor;
        next_cursor := null;
        for id, next_cursor in execute format('select %s, next_cursor from pawl.%s(cursor => $1, max_rows => 2)', case what when 'list_runs' then 'run_id' else 'event_id' end, what) using v_cursor loop
            return next;
        end loop;
        exit when next_cursor is null;
    end loop;
end $$;
grant usage on schema t to :"reader";
create temporary table page (what text, id uuid, next_cursor uuid);
grant all on page to :"reader";
set session authorization :"reader";
insert into page select w, p.* from unnest(array['list_runs', 'list_events']) w, t.pages(w) p;
reset session authorization;
select is((select array_agg(id order by id desc) from page where what = 'list_runs' and id is not null), array[:'third', :'second', :'first']::uuid[], 'the reader finds its three runs, each once');
select cmp_ok((select count(*) from page where what = 'list_runs' and id is null), '>=', 2::bigint, 'with pages that have only a cursor');
select is((select count(*) from page p where what = 'list_runs' and id is null and exists (select from pawl_data.task t where t.run_id = p.next_cursor)), 0::bigint, 'which is no id of a run');
select is((select count(*) from page p join pawl_data.task t on left(t.run_id::text, 13) = left(p.next_cursor::text, 13) where p.what = 'list_runs' and p.id is null), 0::bigint, 'nor has it the time of one');
select is((select count(*) from page where what = 'list_events' and id is not null), 2::bigint, 'the reader finds its two events');
select is((select count(distinct id) from page where what = 'list_events' and id is not null), 2::bigint, 'each once');
select cmp_ok((select count(*) from page where what = 'list_events' and id is null), '>=', 1::bigint, 'with a page that has only a cursor');
select is((select count(*) from page p where what = 'list_events' and id is null and exists (select from pawl_data.event e where e.event_id = p.next_cursor)), 0::bigint, 'which is no id of an event');
-- A cursor leads back to its id, whatever the id; that of another role is the id.
create function t.cursor_for(role name, id uuid) returns uuid language plpgsql as $$
declare
    v_cursor uuid;
begin
    execute format('set session authorization %I', role);
    -- As a verb would, with the rights of the owner.
    v_cursor := t.as_owner(id);
    reset session authorization;
    return v_cursor;
end $$;
create function t.as_owner(id uuid) returns uuid language sql security definer set search_path to pg_catalog, pg_temp as 'select pawl._cursor_at(id)';
create temporary table hidden as select r.id, null::uuid as cursor from (select unnest(array['00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff', '01900000-0000-7000-8000-00000000000f']::uuid[]) as id) r;
select ok(bool_and(h.cursor <> h.id and substr(h.cursor::text, 15, 1) = '8' and substr(h.cursor::text, 20, 1) in ('8', '9', 'a', 'b') and pawl._cursor_id(h.cursor) = h.id), 'a cursor leads back to its id')
from (select h.id, t.cursor_for(:'reader', h.id) as cursor from hidden h union all select t.run_id, t.cursor_for(:'reader', t.run_id) from (select run_id from pawl_data.task limit 50) t) h;
select is(pawl._cursor_at(:'first'), :'first', 'for a role that is not bound it is the id');
select is(pawl._cursor_id(:'first'), :'first', 'and an id is a cursor');
reset session authorization;
drop owned by :"reader";
drop role :"reader";
select * from finish();
