-- SPDX-License-Identifier: Apache-2.0
-- The doors of this room: the only functions of operators that housekeeping calls.

-- One piece of the bulk that is due longest, of all or of those of a tenant: up to 200 runs, in the transaction in which its position moves. So
-- each run has its turn once, whatever is killed. Returns true if a bulk was due.
create or replace function pawl._next_bulk(p_now timestamptz, p_tenant text)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_bulk pawl_data.bulk;
begin
    select b.* into v_bulk
    from pawl_data.bulk b
    where b.ended_at is null and (b.due_at <= p_now or b.due_at > p_now + interval '1 hour')
      -- guard:next_bulk_tenant
      and (p_tenant is null or b.filter ->> 'tenant' = p_tenant)
    order by b.due_at
    limit 1
    -- guard:bulk_skip_locked
    for update skip locked;
    if not found then
        return false;
    end if;
    -- 1. A bulk cannot be continued: its filter cannot be read. 2. It is due first, always. Without the handler no other bulk would continue.
    -- guard:bulk_broken
    begin
        perform pawl._continue_bulk(v_bulk, p_now);
    exception
        when others then
            update pawl_data.bulk b set last_error = left(sqlstate || ' ' || sqlerrm, 1000), due_at = p_now + interval '1 min'
            where b.bulk_no = v_bulk.bulk_no;
    end;
    return true;
end
$$;
comment on function pawl._next_bulk(timestamptz, text) is 'continues the bulk that is due longest';

create or replace function pawl._forget_bulks(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    delete from pawl_data.bulk b
    where b.ctid = any (array(
        select o.ctid from pawl_data.bulk o
        where o.ended_at < pawl._shift(p_now, (select - s.retention from pawl_data.setting s where s.only_row))
        limit 100
        for update skip locked));
end
$$;
comment on function pawl._forget_bulks(timestamptz) is 'deletes bulks that ended long ago';
