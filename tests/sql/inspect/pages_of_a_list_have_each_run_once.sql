-- SPDX-License-Identifier: Apache-2.0
-- Living, ended, kept and retried runs, in every order, listed in small pages with each filter: together they are what a look at the tables finds.
select plan(2);
select t.session() as s \gset
select pawl.create_workflow('a.flow', max_attempts => 1), pawl.create_workflow('b.flow', max_attempts => 1), pawl.create_workflow('noise') \gset
do $$
declare
    v_session bigint := (select session_id from pawl_data.worker);
    v_claim record;
    v_run uuid;
begin
    for i in 1..120 loop
        perform pawl.test_clock_advance('1 ms');
        -- More than one step of a search examines, and not as many of each kind.
        insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant)
        select pawl._id_make(pawl.now()), 1, 's', 100, w.queue_id, 1, 1, pawl.now(), pawl.now(), false, false, '' from pawl_data.workflow w, generate_series(1, 3) where w.name = 'noise';
        perform from pawl.trigger('noise', delay => '1 h');
        select r.run_id into v_run from pawl.trigger(case when i % 3 = 0 then 'b.flow' else 'a.flow' end, '{}', key => 'k' || i % 50, key_while_active => true, tenant => case when i % 4 = 0 then 'acme' else '' end,
            delay => case when i % 7 = 0 then interval '1 h' end) r;
        for v_round in 1..i % 5 loop
            select c.* into v_claim from pawl.claim(v_session, 1) c;
            continue when v_claim.run_id is null;
            perform t.answer(v_session, v_claim.run_id, v_claim.fence, case when (i + v_round) % 3 = 0 then 'complete' else 'fail' end, null, '{}');
            if i % 2 = 0 then
                perform pawl.retry(array[v_claim.run_id]);
            end if;
        end loop;
        if i % 10 = 0 then
            perform pawl.cancel(array[v_run]);
        end if;
        if i % 6 = 0 and exists (select from pawl_data.run r where r.run_id = v_run) and not exists (select from pawl_data.task k where k.run_id = v_run) then
            perform pawl._keep(v_run);
        end if;
    end loop;
end $$;
create temp table filter as
select w.workflow, s.status, x.tenant, k.key
from (values (null), ('a.flow'), ('b.*'), ('*')) w (workflow),
     (values (null), ('QUEUED'), ('RUNNING'), ('PAUSED'), ('SUCCESS'), ('ERROR'), ('CANCELLED')) s (status),
     (values (null), ('acme'), ('')) x (tenant), (values (null), ('k7')) k (key);
create function pages(f filter, most int) returns text language plpgsql as $$
declare v_cursor uuid; v_all text[] := '{}'; v_page text[];
begin
    loop
        select array_agg(l.run_id::text order by l.run_id desc), (array_agg(l.next_cursor order by l.run_id desc))[count(*)] into v_page, v_cursor
        from pawl.list_runs(f.workflow, f.status, f.tenant, f.key, cursor => v_cursor, max_rows => pages.most) l;
        v_all := v_all || v_page;
        exit when coalesce(cardinality(v_page), 0) < most;
    end loop;
    return array_to_string(v_all, ' ');
end $$;
create temp table overview as
select o.* from pawl._overview(array(select run_id from pawl_data.task union select run_id from pawl_data.run union select run_id from pawl_data.run_kept), pawl.now(), null) o;
create function expected(f filter) returns text language sql as $$
    select coalesce(string_agg(o.run_id::text, ' ' order by o.run_id desc), '')
    from overview o
    where (f.workflow is null or o.workflow like replace(f.workflow, '*', '%')) and (f.status is null or o.status = f.status)
      and (f.tenant is null or o.tenant = f.tenant) and (f.key is null or o.key = f.key)
$$;
select is_empty($$select f.*, m from filter f, unnest(array[1, 7, 50]) m where pages(f, m) <> expected(f)$$, 'every page of every filter');
select cmp_ok((select count(distinct expected(f)) from filter f), '>', 40::bigint, 'and the filters differ');
select * from finish();
