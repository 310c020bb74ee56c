-- SPDX-License-Identifier: Apache-2.0
-- Helpers of bench/engine --plans: short words for its list of verbs, and the judge of plans.

create function bench.s()
returns bigint
language sql
stable
return (select max(w.session_id) from pawl_data.worker w where w.ended_at is null);

-- A run that waits to be claimed.
create function bench.run()
returns uuid
language sql
stable
return (
    select t.run_id from pawl_data.task t
    where t.place = 'r' and t.queue_id = bench.queue('bench.run') order by t.priority, t.due_at limit 1);

-- An item for one task: one that is held, or else one more.
create function bench.one(p_kind text, p_name text, p_payload text, p_option json)
returns text
language plpgsql
as $$
declare
    v_run uuid;
    v_fence int;
    v_answer text;
begin
    select h.run_id, h.fence into v_run, v_fence
    from pawl.held(bench.s()) h where h.notice is null order by random() limit 1;
    if not found then
        select c.run_id, c.fence into v_run, v_fence from pawl.claim(bench.s(), 1) c;
    end if;
    select m.answer into v_answer
    from pawl.commit(bench.s(), array[v_run], array[v_fence], array[p_kind], array[p_name], array[p_payload],
                     options => array[p_option::text]) m;
    return v_answer;
end
$$;

-- All slow chores at once, which otherwise come by one at a time.
create function bench.chores()
returns void
language plpgsql
as $$
begin
    update pawl_data.chore set due_at = '-infinity' where chore <> 'deliver';
    perform pawl.housekeep();
end
$$;

create table bench.plan (
    state text not null,
    verb text not null,
    plan jsonb not null
);

-- Every node of a plan, with the kind of the node above it.
create function bench.nodes(p_plan jsonb)
returns table (node jsonb, above text)
language sql
immutable
as $$
    with recursive n (node, above) as (
        select p_plan -> 'Plan', ''
        union all
        select c, n.node ->> 'Node Type' from n cross join lateral jsonb_array_elements(n.node -> 'Plans') c
        where n.node ? 'Plans'
    )
    select n.node, n.above from n;
$$;

-- Scans that read a whole table of the kind that grows, or any table of more than 1,000 pages: by its rows, or by an index
-- that is asked for nothing, unless only its first entries are wanted.
create view bench.bad_scan as
select p.state, p.verb, n.node ->> 'Node Type' as scan, n.node ->> 'Relation Name' as relation,
       coalesce(n.node ->> 'Index Name', '') as index, p.plan ->> 'Query Text' as query
from bench.plan p
cross join lateral bench.nodes(p.plan) n
left join pg_class c on c.relname = n.node ->> 'Relation Name' and c.relnamespace = 'pawl_data'::regnamespace
where n.node ? 'Relation Name'
  and (n.node ->> 'Relation Name' ~ '^(task|wait|key|signal|topic)$|^(run|step|event|input|audit|note)_'
       or pg_relation_size(c.oid) > 1000 * 8192)
  and c.oid is not null
  and (n.node ->> 'Node Type' = 'Seq Scan'
       or n.node ->> 'Node Type' ~ '^(Index|Index Only|Bitmap Index) Scan$' and not n.node ? 'Index Cond'
          and not (n.above = 'Limit' and not n.node ? 'Filter'))
  and p.plan ->> 'Query Text' <> ''
  and p.plan ->> 'Query Text' !~ 'bench\.';
