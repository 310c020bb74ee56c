-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select t.session() as s \gset
select pawl.create_workflow('a.flow', max_attempts => 1), pawl.create_workflow('b.flow', max_attempts => 1), pawl.create_workflow('busy.flow') \gset
create temp table made (name text, run_id uuid);
create function make(name text, workflow text, session bigint, tenant text default '') returns uuid language plpgsql as $$
declare v_run uuid; v_claim record;
begin
    select r.run_id into v_run from pawl.trigger(workflow, tenant => make.tenant, key => name) r;
    select c.* into v_claim from pawl.claim(session, 1) c;
    perform pawl.fail(session, v_claim.run_id, v_claim.fence, '{"message": "boom"}');
    insert into made values (name, v_run);
    perform pawl.test_clock_advance('1 s');
    return v_run;
end $$;
create function finish(name text, session bigint, kind text) returns text language sql as $$
    select t.answer(session, m.run_id, c.fence, kind, null, '{}') from made m, pawl.claim(session, 1) c where m.name = finish.name and c.run_id = m.run_id
$$;
create function failed(workflow text default null, tenant text default null, key text default null, most int default 50, cursor uuid default null)
returns text language sql as $$
    select coalesce(string_agg(coalesce(m.name, 'stopped'), ' ' order by l.run_id desc nulls last), 'none')
    from pawl.list_runs(workflow, 'ERROR', tenant, key, cursor => failed.cursor, max_rows => failed.most) l left join made m using (run_id)
$$;
select make('old', 'a.flow', :s), make('other', 'b.flow', :s), make('tenants', 'a.flow', :s, 'acme'), make('healed', 'a.flow', :s), make('twice', 'a.flow', :s),
       make('again', 'a.flow', :s), make('late', 'a.flow', :s) \gset
select answer from made, pawl.retry(array[run_id]) where name in ('healed') \gset
select is(finish('healed', :s, 'complete'), 'ok', 'one was retried and succeeded');
select answer from made, pawl.retry(array[run_id]) where name = 'twice' \gset
select is(finish('twice', :s, 'fail'), 'ok', 'one was retried and failed again');
select answer from made, pawl.retry(array[run_id]) where name = 'again' \gset
-- One that is kept apart from its day.
select pawl._keep(run_id) from made where name = 'late' \gset
insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant)
select pawl._id_make(pawl.now() + g * interval '0.1 ms'), 1, case g % 2 when 0 then 's' else 'c' end, 100, q.queue_id, 1, 1, pawl.now(), pawl.now(), false, false, ''
from generate_series(1, 10500) g, pawl_data.queue q where q.name = 'busy.flow';
select is(failed(), 'late twice tenants other old', 'each run whose last round failed, newest first');
select is(failed('b.flow'), 'other', 'of a workflow');
select is(failed(tenant => 'acme'), 'tenants', 'of a tenant');
select is(failed(key => 'old'), 'old', 'with a key');
select is(failed(most => 2), 'late twice', 'as many as asked for');
select is(failed(most => 2, cursor => (select run_id from made where name = 'twice')), 'tenants other', 'and the next');
select results_eq($$select workflow, round, execution, key, worker, next_cursor = run_id, due_at is null and ended_at is not null and not ending and not rolling_back from pawl.list_runs(only_status => 'ERROR', max_rows => 2)$$,
    $$values ('a.flow', 1, 1, 'late', 'worker', true, true), ('a.flow', 2, 2, 'twice', 'worker', true, true)$$, 'with what a list shows');
select results_eq($$select (l.*)::text from pawl.list_runs(only_status => 'ERROR') l$$, $$select (o.*, o.run_id)::text from made m, pawl._overview(array[m.run_id], pawl.now(), null) o where o.status = 'ERROR' order by o.run_id desc$$, 'the same as other lists show');
insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant)
select pawl._id_make(pawl.now() + g * interval '0.1 ms'), 1, 'e', 100, q.queue_id, 1, 1, pawl.now(), pawl.now(), false, false, ''
from generate_series(1, 10500) g, pawl_data.queue q where q.name = 'busy.flow';
select is(failed('b.flow'), 'stopped', 'after ten thousand failures of others the search stops');
select is(failed('b.flow', cursor => (select next_cursor from pawl.list_runs('b.flow', 'ERROR'))), 'other', 'and goes on from there');
select is(failed('no.such'), 'none', 'a workflow that there is not has none');
select * from finish();
