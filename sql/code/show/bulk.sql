-- SPDX-License-Identifier: Apache-2.0
-- How far actions on many runs are.

create or replace function pawl.list_bulks(only_running boolean default false, cursor bigint default null, max_rows int default 50)
returns table (
    bulk bigint, act text, state text, handled bigint, ok bigint, waiting int, answers json, filter json, rate double precision, started_at timestamptz,
    started_by text, why text, ended_at timestamptz, stopped_by text, reached_at timestamptz, last_error text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_bound text := pawl._bound_tenant('list_bulks');
begin
    return query
    select b.bulk_no, b.act, case when b.stopped_by is not null then 'stopped' when b.ended_at is not null then 'done' else 'running' end,
           (select coalesce(sum(a.value::text::bigint), 0)::bigint from jsonb_each(b.answers) a), coalesce((b.answers ->> 'ok')::bigint, 0),
           cardinality(b.again), b.answers::json, b.filter, b.rate, b.started_at, b.started_by, b.why, b.ended_at, b.stopped_by,
           to_timestamp(pawl._id_millis(b.position) / 1000.0), b.last_error
    from pawl_data.bulk b
    -- guard:bulks_tenant
    where (v_bound is null or b.filter ->> 'tenant' = v_bound)
      and (not coalesce(only_running, false) or b.ended_at is null) and b.bulk_no < coalesce(list_bulks.cursor, 9223372036854775807)
    order by b.bulk_no desc
    limit least(greatest(max_rows, 0), 1000);
end
$$;
comment on function pawl.list_bulks(boolean, bigint, int) is
'Actions on many runs (begin_bulk), newest first. state: running, done or stopped. handled: how many runs have had their turn, of which ok answered ok; answers: how many gave each answer. waiting: runs that another transaction held, which get another turn. reached_at: runs that were triggered later than this have had their turn. Pass the last bulk as cursor to continue.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 1,000 rows.';
