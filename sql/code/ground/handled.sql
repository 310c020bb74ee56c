-- SPDX-License-Identifier: Apache-2.0
-- Which sessions handle a queue: kept by queue, so that a trigger reads one row and not the list of every worker.

-- Writes that a session handles p_new instead of p_old. The caller has locked the session's row, so no other transaction writes rows of this
-- session, and this one waits for none.
create or replace function pawl._write_queues(p_session bigint, p_old int[], p_new int[])
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
begin
    -- guard:queues_removed
    delete from pawl_data.worker_queue h
    where h.session_id = p_session and h.queue_id = any (array(select o from unnest(p_old) o except select n from unnest(p_new) n));
    -- guard:queues_added
    insert into pawl_data.worker_queue (queue_id, session_id)
    select n.queue_id, p_session
    from (select n from unnest(p_new) n except select o from unnest(p_old) o) n (queue_id)
    on conflict on constraint worker_queue_pkey do nothing;
end
$$;
comment on function pawl._write_queues(bigint, int[], int[]) is 'records by queue what a session handles';

create or replace function pawl._is_handled(p_queue int, p_tenant text, p_now timestamptz)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
-- So that the planner takes the index, whatever statistics say.
set enable_sort to off
as $$
begin
    return coalesce((
        select true
        from pawl_data.worker_queue h
        -- Looks at one session after the other until one is alive: most likely the one that came last.
        cross join lateral (
            select from pawl_data.worker k
            where k.session_id = h.session_id and k.ended_at is null and k.lease_until > p_now
              -- guard:handled_tenant
              and (k.tenant is null or k.tenant = p_tenant)
            offset 0
        ) k
        where h.queue_id = p_queue
        order by h.session_id desc
        limit 1), false);
end
$$;
comment on function pawl._is_handled(int, text, timestamptz) is 'whether a live worker handles a queue for a tenant';
