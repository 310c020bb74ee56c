-- SPDX-License-Identifier: Apache-2.0
-- Tags: short texts of a run that it is found by.

create or replace function pawl._check_tags(p_tags text[])
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if cardinality(p_tags) > 8 or array_ndims(p_tags) > 1 then
        -- guard:tags_max
        perform pawl._raise('PW003', 'a run has at most 8 tags, in an array of one dimension');
    end if;
    if exists (select from unnest(p_tags) g (tag) where octet_length(g.tag) between 1 and 100 is not true) then
        -- guard:tag_max
        perform pawl._raise('PW003', 'a tag must have 1 to 100 bytes');
    end if;
end
$$;
comment on function pawl._check_tags(text[]) is 'refuses tags that are over a limit';

-- Adds tags that were checked to new runs of one tenant, of which this transaction has made each.
create or replace function pawl._add_tags(p_ids uuid[], p_tenant text, p_tags text[])
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._need_partitions(p_ids, array['tag']);
    insert into pawl_data.tag (run_id, tenant, tag)
    select i.id, p_tenant, g.tag
    from unnest(p_ids) i (id)
    cross join (select distinct u.tag from unnest(p_tags) u (tag)) g
    -- A caller may have called the id of an ended run new: see _check_new().
    on conflict do nothing;
end
$$;
comment on function pawl._add_tags(uuid[], text, text[]) is 'adds tags to new runs';

-- Planned at each call, so that only the partition of this run is opened.
create or replace function pawl._tags_of(p_run uuid)
returns text[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
begin
    return (
        select array_agg(g.tag order by g.tag)
        from (
            select t.tag from pawl_data.tag t where t.run_id = p_run
            union all
            select k.tag from pawl_data.tag_kept k where k.run_id = p_run
        ) g);
end
$$;
comment on function pawl._tags_of(uuid) is 'the tags of a run; null: it has none';
