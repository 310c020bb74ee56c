-- SPDX-License-Identifier: Apache-2.0
-- The piece of housekeeping that completes waits for an event that had more waits than one emit completes.

-- Completes a page of waits for one event that had more waits than one emit completes. Skips a run that another transaction holds; at the
-- end of the walk it starts again for these runs.
create or replace function pawl._deliver_more(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_delivery pawl_data.delivery;
begin
    select d.* into v_delivery
    from pawl_data.delivery d
    -- No delivery is deferred for more than a second. A due time far ahead means that the clock was moved backward; without the test the
    -- delivery would wait until the clock gets there again.
    -- guard:delivery_clock
    where (d.due_at <= p_now or d.due_at > p_now + interval '1 hour' and d.due_at < 'infinity')
      and (p_tenant is null or d.tenant = p_tenant)
    order by d.due_at
    limit 1
    for update skip locked;
    if not found then
        return 0;
    end if;
    if not p_each then
        return pawl._deliver_page(v_delivery, p_max, p_now);
    end if;
    for v_n in 1..p_max loop
        begin
            perform pawl._deliver_page(v_delivery, 1, p_now);
        exception
            when others then
                perform pawl._note_failure('deliveries', p_now, format('event %s: %s %s', v_delivery.event_id, sqlstate, sqlerrm));
                -- Continue the walk after the run that fails, and return to that run after the end of the walk. Otherwise every page would
                -- fail at it.
                -- guard:delivery_skips
                update pawl_data.delivery d
                set passed_over = true, after = coalesce((
                        select w.run_id from pawl_data.wait w join pawl_data.event e on e.event_id = d.event_id
                        where w.kind = 'e' and w.tenant = e.tenant and w.topic = e.topic and w.key = e.key and w.run_id > d.after
                        order by w.run_id limit 1), d.after)
                where d.event_id = v_delivery.event_id;
        end;
        select d.* into v_delivery from pawl_data.delivery d where d.event_id = v_delivery.event_id and d.due_at <= p_now;
        exit when not found;
    end loop;
    return 0;
end
$$;
comment on function pawl._deliver_more(timestamptz, int, text, boolean) is 'settles further waits for an event that had many';

-- Completes one page of waits. Returns how many were completed.
create or replace function pawl._deliver_page(p_delivery pawl_data.delivery, p_max int, p_now timestamptz)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
declare
    v_event pawl_data.event;
    v_paths text[];
    v_page record;
begin
    select e.* into v_event from pawl_data.event e where e.event_id = p_delivery.event_id;
    if not found then
        delete from pawl_data.delivery d where d.event_id = p_delivery.event_id;
        return 0;
    end if;
    select o.path_sets into v_paths
    from pawl_data.topic o where o.tenant = v_event.tenant and o.topic = v_event.topic and o.key = v_event.key;
    select d.* into v_page from pawl._deliver(v_event, v_paths, p_max, p_now, false, p_delivery.after) d;
    if v_page.last is null and not (p_delivery.passed_over or v_page.passed_over) then
        delete from pawl_data.delivery d where d.event_id = p_delivery.event_id;
        return v_page.settled;
    end if;
    update pawl_data.delivery d
    set after = coalesce(v_page.last, '00000000-0000-0000-0000-000000000000'),
        passed_over = v_page.last is not null and (d.passed_over or v_page.passed_over),
        due_at = case when v_page.last is null then p_now + interval '1 s' else least(d.due_at, p_now) end
    where d.event_id = p_delivery.event_id;
    return v_page.settled;
end
$$;
comment on function pawl._deliver_page(pawl_data.delivery, int, timestamptz) is 'gives an event to a page of waits';
