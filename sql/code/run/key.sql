-- SPDX-License-Identifier: Apache-2.0
-- Keys: one living or retained run for each key of a workflow and tenant.

-- Returns whether a run of this id has ended already. A caller above read committed cannot see a run that ended after its snapshot, but the
-- unique index has it. So this inserts the row and deletes it again.
create or replace function pawl._id_is_used(p_id uuid)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_made int;
begin
    if current_setting('transaction_isolation') = 'read committed' then
        return exists (select from pawl_data.run r where r.run_id = p_id and r.round = 1)
            -- A run in the kept tables is of another day than the clock shows now: the clock was moved backward.
            -- guard:id_kept
            or exists (select from pawl_data.run_kept k where k.run_id = p_id);
    end if;
    if exists (select from pawl_data.run_kept k where k.run_id = p_id) then
        return true;
    end if;
    perform pawl._need_partitions(array[p_id], array['run']);
    insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at,
                          rolled_back, input_apart, tenant)
    values (p_id, 1, 's', 0, 0, 0, 0, '-infinity', '-infinity', false, false, '')
    on conflict do nothing;
    get diagnostics v_made = row_count;
    if v_made = 0 then
        return true;
    end if;
    delete from pawl_data.run r where r.run_id = p_id and r.round = 1;
    return false;
end
$$;
comment on function pawl._id_is_used(uuid) is 'whether a run of this id has ended already';

-- Takes the key for p_id, or answers with the run that has it. Leaves the row of that key unlocked: the worker of that run would wait for
-- it when the run ends.
create or replace function pawl._hold_key(
    p_now timestamptz, p_workflow_id int, p_tenant text, p_key text, p_digest bytea, p_id uuid, p_expires timestamptz,
    out run_id uuid, out taken boolean, out same_input boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_old pawl_data.key;
    v_made int;
begin
    run_id := p_id;
    taken := true;
    same_input := true;
    for v_try in 1..20 loop
        insert into pawl_data.key (workflow_id, expires_at, run_id, tenant, key, digest)
        values (p_workflow_id, p_expires, p_id, p_tenant, p_key, p_digest)
        on conflict on constraint key_pkey do nothing;
        get diagnostics v_made = row_count;
        if v_made = 1 then
            return;
        end if;
        -- A separate statement: it sees rows that were committed while the insert waited.
        select k.* into v_old
        from pawl_data.key k
        where k.tenant = p_tenant and k.workflow_id = p_workflow_id and k.key = p_key;
        -- guard:key_over
        if found and pawl._key_is_over(v_old, p_now) then
            -- The key has expired: take it, unless another transaction has just taken it.
            update pawl_data.key k
            set run_id = p_id, digest = p_digest, expires_at = p_expires
            where k.tenant = p_tenant and k.workflow_id = p_workflow_id and k.key = p_key and k.run_id = v_old.run_id
              and k.expires_at is not distinct from v_old.expires_at;
            get diagnostics v_made = row_count;
            if v_made = 1 then
                return;
            end if;
        elsif found then
            run_id := v_old.run_id;
            taken := false;
            same_input := v_old.digest = p_digest;
            return;
        end if;
    end loop;
    perform pawl._raise('PW010', format('key "%s" is contended: 20 attempts to take it failed', p_key), 'Retry the call.');
end
$$;
comment on function pawl._hold_key(timestamptz, int, text, text, bytea, uuid, timestamptz) is 'the run that an idempotency key stands for, which may be the one that asks';

-- Whether the run of this id was triggered with this key.
create or replace function pawl._has_key(p_id uuid, p_queue int, p_key text)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl_data.task t where t.run_id = p_id and t.task_no = 0 and t.queue_id = p_queue and t.key = p_key)
        or exists (select from pawl._runs(array[p_id]) r where r.queue_id = p_queue and r.key = p_key);
end
$$;
comment on function pawl._has_key(uuid, int, text) is 'whether a run was triggered with a key';
