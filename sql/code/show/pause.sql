-- SPDX-License-Identifier: Apache-2.0
-- What is paused, beyond single runs and schedules.

-- The beginning of a sentence while everything is paused: "everything is paused by ada since ...: moving to new disks"; null otherwise.
create or replace function pawl._all_paused_text()
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select format('%s paused everything at %s%s', p.paused_by, to_char(p.paused_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
            coalesce(': ' || left(p.why, 200), ''))
        from pawl_data.pause p
        where p.subject = 'all');
end
$$;
comment on function pawl._all_paused_text() is 'who has paused everything, since when and why';

create or replace function pawl._all_paused_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select 'pause', 'warning',
           format('%s has paused everything for %s%s%s', p.paused_by, pawl._ago(p_now - p.paused_at),
               coalesce(' (' || left(p.why, 200) || ')', ''), case when s.refuses_triggers then ', and triggers are refused' else '' end),
           'Resume everything with pawl.resume_all() when the reason is gone.'
    from pawl_data.pause p
    cross join pawl_data.setting s
    where p.subject = 'all' and s.only_row;
end
$$;
comment on function pawl._all_paused_found(timestamptz) is 'whether everything is paused';

create or replace function pawl.list_pauses()
returns table (subject text, name text, paused_at timestamptz, paused_by text, why text, refuses_triggers boolean)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    -- All tenants share what is listed; a role that no tenant is known of is refused.
    perform pawl._bound_tenant('list_pauses');
    return query
    select p.subject, nullif(p.name, ''), p.paused_at, p.paused_by, p.why,
           case when p.subject = 'all' then (select s.refuses_triggers from pawl_data.setting s where s.only_row) end
    from pawl_data.pause p
    order by p.subject, p.name
    limit 10000;
end
$$;
comment on function pawl.list_pauses() is
'What is paused beyond single runs and schedules: everything (subject all, first), queues and workflows, with who paused it, when and why. refuses_triggers: of pause_all(), whether triggers are refused.
If repeated: returns the same, or what has changed since.
Locks: none.
Errors: none.
Limits: 10,000 rows.';
