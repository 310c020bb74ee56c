-- SPDX-License-Identifier: Apache-2.0
-- What the engine has chosen where no answer tells it.

-- Children of one step of a run or of a task of it.
create function oracle.children(parent uuid, task int, step text)
returns text
language sql
stable
as $$
    select coalesce(string_agg(c.run_id::text, ' ' order by c.run_id), '')
    from (
        select t.run_id from pawl_data.task t
        where t.task_no = 0 and t.parent_id = parent and coalesce(t.parent_task, 0) = task and t.parent_step = step
        union
        select r.run_id from pawl_data.run r
        where r.parent_id = parent and coalesce(r.parent_task, 0) = task and r.parent_step = step
    ) c
$$;

-- Moments are told from now, as durations.
create function oracle.create_schedule(
    name text, workflow text, cron text, every interval, at interval, zone text, input json, tenant text, priority int, metadata json, catch_up text,
    catch_up_within interval, overlap text, jitter interval, starts_at interval, ends_at interval)
returns text
language sql
volatile
as $$
    select pawl.create_schedule(name, workflow, cron, every, pawl.now() + at, zone, input, tenant, priority, metadata, null, catch_up,
        catch_up_within, overlap, jitter, pawl.now() + starts_at, pawl.now() + ends_at)
$$;

create function oracle.schedule_name(tenant text, name text, catch_up text default null)
returns table (tenant text, name text, catch_up text)
language sql
volatile
as $$
    select $1, $2, $3
$$;

create function oracle.bulk(act text, filter json, rate double precision, digest text)
returns table (act text, filter json, rate double precision, digest text)
language sql
volatile
as $$
    select $1, $2, $3, $4
$$;

create function oracle.lane(workflow text, limit_key text, key_limit int, weight int, tenant text)
returns table (workflow text, limit_key text, key_limit int, weight int, tenant text)
language sql
volatile
as $$
    select $1, $2, $3, $4, $5
$$;

create function oracle.backfill_schedule(tenant text, name text, since interval, until interval, max_rows int)
returns table (at timestamptz, run_id uuid, created boolean)
language sql
volatile
as $$
    select * from pawl.backfill_schedule($2, pawl.now() - $3, pawl.now() - $4, $5, $1, 'op')
$$;

-- In which order housekeeping has ended sessions.
create table oracle.swept (n bigint generated always as identity, session bigint not null);

-- As its owner, because the engine's does not know the table.
create function oracle.note_swept()
returns trigger
language plpgsql
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    insert into oracle.swept (session) values (new.session_id);
    return null;
end
$$;
create trigger note_swept after update on pawl_data.worker
for each row when (old.ended_at is null and new.ended_at is not null and new.ended_why <> 'left')
execute function oracle.note_swept();
