-- SPDX-License-Identifier: Apache-2.0
select plan(18);
select t.session() as s \gset
select pawl.create_workflow('a.flow'), pawl.create_workflow('b.flow'), pawl.create_workflow('busy.flow') \gset
select run_id as live from pawl.trigger('a.flow', key => 'k') \gset
select run_id as tenants from pawl.trigger('a.flow', key => 'k', tenant => 'acme') \gset
select run_id as other from pawl.trigger('b.flow', key => 'k') \gset
select run_id as ended from pawl.trigger('b.flow', key => 'ended') \gset
select run_id as once from pawl.trigger('a.flow', key => 'once', key_while_active => true) \gset
select run_id as brief from pawl.trigger('a.flow', key => 'brief', key_ttl => '1 h') \gset
select count(*) as n from pawl.claim(:s, 10) c, pawl.complete(:s, c.run_id, c.fence) where c.run_id in (:'ended', :'once', :'brief') \gset
select pawl.test_clock_advance('1 s') \gset
insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant, key)
select pawl._id_make(pawl.now() + g * interval '0.1 ms'), 1, 's', 100, q.queue_id, 1, 1, pawl.now(), pawl.now(), false, false, '', null
from generate_series(1, 10500) g, pawl_data.queue q where q.name = 'busy.flow';

create function found(key text, workflow text default null, tenant text default null, status text default null, cursor uuid default null)
returns text language sql as $$
    select coalesce(string_agg(coalesce(l.run_id::text, 'stopped'), ' ' order by l.run_id desc nulls last), 'none')
    from pawl.list_runs(workflow, status, tenant, key, cursor => found.cursor) l
$$;
select is(found('k', 'a.flow', ''), :'live', 'a run that has not ended');
select is(found('k', tenant => 'acme'), :'tenants', 'one of a tenant');
select is(found('k', 'b.*'), :'other', 'one of a workflow');
select is(found('k'), (select string_agg(r::text, ' ' order by r desc) from unnest(array[:'live', :'tenants', :'other']::uuid[]) r), 'all that it stands for, newest first');
select is(found('ended'), :'ended', 'a run that has ended');
select is(found('ended', status => 'SUCCESS'), :'ended', 'in a state that it is in');
select is(found('ended', status => 'ERROR'), 'none', 'and not in another');
select is(found('ended', 'a.flow'), 'stopped', 'where the key stands for none, runs that may have had it are searched for');
select is(found('ended', 'no.such'), 'none', 'but not where there is nothing to search');

-- A key that holds while its run is active stands for none after the end.
select next_cursor as cursor from pawl.list_runs(only_key => 'once') where run_id is null \gset
select is(found('once'), 'stopped', 'a run that has freed its key is not found at once');
select is(found('once', cursor => :'cursor'), :'once', 'but by going on');

-- One that holds for a time stands for a run, and may have stood for others before.
select is(found('brief'), :'brief' || ' stopped', 'a key with a lifetime finds its run at once, and says that others may have had it');
select next_cursor as cursor from pawl.list_runs(only_key => 'brief') where run_id is null \gset
select is((select bool_and(next_cursor = :'cursor') from pawl.list_runs(only_key => 'brief')), true, 'every row says where to go on');
select is(found('brief', cursor => :'cursor'), :'brief', 'where the run is listed in its place');
select pawl.test_clock_advance('2 h') \gset
select run_id as second from pawl.trigger('a.flow', key => 'brief', key_ttl => '1 h') \gset
select is(found('brief'), :'second' || ' stopped', 'a later run with the key is listed first');
select is(found('brief', cursor => :'cursor'), :'brief', 'and the earlier one by going on');
select is((select count(*) from pawl.list_runs(only_key => 'k', since => pawl.now() - interval '1 h')), 0::bigint, 'what is older than asked for is not listed');
select is((select string_agg(run_id::text, ' ') from pawl.list_runs(only_key => 'k', max_rows => 1)), split_part(found('k'), ' ', 1), 'nor more than asked for');
select * from finish();
