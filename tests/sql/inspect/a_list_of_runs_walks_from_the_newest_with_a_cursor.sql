-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select t.session() as s \gset
select pawl.create_workflow('a.flow'), pawl.create_workflow('b.flow') \gset
do $$ begin for i in 1..25 loop perform pawl.test_clock_advance('1 s'); perform from pawl.trigger(case when i % 5 = 0 then 'b.flow' else 'a.flow' end, to_json(i), key => 'k' || i, tenant => case when i % 2 = 0 then 'even' else '' end); end loop; end $$;
create function pages(most int) returns text language plpgsql as $$
declare v_cursor uuid; v_seen text := ''; v_page text; v_n int;
begin
    for i in 1..100 loop
        select string_agg(key, ' ' order by run_id desc), min(next_cursor::text)::uuid, count(*) into v_page, v_cursor, v_n from pawl.list_runs(cursor => v_cursor, max_rows => pages.most);
        exit when v_n = 0;
        v_seen := v_seen || v_page || '|';
    end loop;
    return v_seen;
end $$;
select is(pages(10), 'k25 k24 k23 k22 k21 k20 k19 k18 k17 k16|k15 k14 k13 k12 k11 k10 k9 k8 k7 k6|k5 k4 k3 k2 k1|', 'pages of ten');
select is((select string_agg(key, ' ' order by run_id desc) from pawl.list_runs('b.flow')), 'k25 k20 k15 k10 k5', 'by workflow');
select is((select count(*) from pawl.list_runs('a.*')), 20::bigint, 'by prefix');
select is((select count(*) from pawl.list_runs(only_tenant => 'even')), 12::bigint, 'by tenant');
select is((select string_agg(key, ' ') from pawl.list_runs(only_key => 'k7')), 'k7', 'by key');
select is((select count(*) from pawl.list_runs(since => pawl.now() - interval '9.5 s')), 10::bigint, 'since a time');
select is((select count(*) from pawl.list_runs(before => pawl.now() - interval '9.5 s')), 15::bigint, 'before a time');
select count(*) as n from pawl.claim(:s, 3) c, pawl.complete(:s, c.run_id, c.fence) \gset
select is((select count(*) from pawl.list_runs(only_status => 'SUCCESS')), 3::bigint, 'by status, ended');
select is((select count(*) from pawl.list_runs(only_status => 'QUEUED')), 22::bigint, 'by status, living');
select is((select count(*) from pawl.list_runs(only_status => 'SUCCESS', only_workflow => 'no.such')), 0::bigint, 'none');
select is((select count(*) from pawl.list_runs(max_rows => 0)), 0::bigint, 'none if none is asked for');
select is((select count(*) from pawl.list_runs(max_rows => 100000)), 25::bigint, 'at most a thousand are given');
select * from finish();
