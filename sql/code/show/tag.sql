-- SPDX-License-Identifier: Apache-2.0
-- Finding runs by a tag.

-- The newest p_max runs below p_before with a tag, of a tenant or of all (null). Within a day an index has them in order, and days are read
-- from the newest on until there are enough.
create or replace function pawl._tagged_before(p_tag text, p_tenant text, p_before uuid, p_since uuid, p_max int)
returns uuid[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
declare
    -- Days past their retention are left out, as in _runs_before().
    v_first uuid := greatest(p_since, pawl._first_id('run', pawl.now()));
begin
    if p_tenant <> '' then
        -- 1. Tenant A has a million runs with a tag. 2. B, a reader that is bound to another tenant, searches for the same tag. By the index
        -- of all tenants B would walk over the runs of A, and learn how many they are.
        -- guard:tagged_by_tenant
        return array(
            select f.run_id
            from (
                (select t.run_id from pawl_data.tag t
                 where t.tenant = p_tenant and t.tenant <> '' and t.tag || '' = p_tag and t.run_id < p_before and t.run_id >= v_first
                 order by t.run_id desc limit p_max)
                union all
                (select k.run_id from pawl_data.tag_kept k
                 where k.tenant = p_tenant and k.tenant <> '' and k.tag || '' = p_tag and k.run_id < p_before and k.run_id >= p_since
                 order by k.run_id desc limit p_max)
            ) f
            order by f.run_id desc
            limit p_max);
    end if;
    return array(
        select f.run_id
        from (
            (select t.run_id from pawl_data.tag t
             where t.tag = p_tag and t.run_id < p_before and t.run_id >= v_first and (p_tenant is null or t.tenant = p_tenant)
             order by t.run_id desc limit p_max)
            union all
            (select k.run_id from pawl_data.tag_kept k
             where k.tag = p_tag and k.run_id < p_before and k.run_id >= p_since and (p_tenant is null or k.tenant = p_tenant)
             order by k.run_id desc limit p_max)
        ) f
        order by f.run_id desc
        limit p_max);
end
$$;
comment on function pawl._tagged_before(text, text, uuid, uuid, int) is 'the newest runs below a place that have a tag';

-- A page of the runs with a tag, as list_runs() has it. Examines up to 10,000 of them.
create or replace function pawl._list_tagged(
    p_tag text, p_before uuid, p_since uuid, p_tenant text, p_queues int[], p_key text, p_status text, p_max int, p_now timestamptz)
returns table (
    run_id uuid, workflow text, tenant text, status text, reason text, round int, execution int, priority int, key text,
    triggered_at timestamptz, started_at timestamptz, ended_at timestamptz, due_at timestamptz, worker text,
    ending boolean, rolling_back boolean, parent_id uuid, error_code text, error_line text, wait_kind text, wait_name text,
    next_cursor uuid)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_place uuid := p_before;
    v_left int := p_max;
    v_size int := p_max;
    v_budget int := 10000;
    v_names text[] := array(select q.name from pawl_data.queue q where q.queue_id = any (p_queues));
    v_ids uuid[];
    v_found int;
begin
    loop
        v_ids := pawl._tagged_before(p_tag, p_tenant, v_place, p_since, v_size);
        return query
        select o.*, o.run_id
        from pawl._overview(v_ids, p_now, null) o
        where (p_tenant is null or o.tenant = p_tenant) and (p_queues is null or o.workflow = any (v_names))
          and (p_key is null or o.key = p_key) and (p_status is null or o.status = p_status)
        order by o.run_id desc
        limit v_left;
        get diagnostics v_found = row_count;
        v_left := v_left - v_found;
        if v_left = 0 or cardinality(v_ids) < v_size then
            return;
        end if;
        v_place := v_ids[v_size];
        v_budget := v_budget - v_size;
        exit when v_budget <= 0;
        v_size := least(greatest(500, 4 * v_size), 2500, v_budget);
    end loop;
    next_cursor := pawl._cursor_at(v_place);
    return next;
end
$$;
comment on function pawl._list_tagged(text, uuid, uuid, text, int[], text, text, int, timestamptz) is 'a page of the runs with a tag';
