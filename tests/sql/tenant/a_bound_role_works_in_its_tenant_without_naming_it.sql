-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select 'tw_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', r, 'a') from unnest(array['producer', 'worker', 'reader']) r \g /dev/null
select pawl.create_workflow('test.flow') \gset
select run_id as other from pawl.trigger('test.flow', tenant => 'b') \gset
grant usage on schema t to :"bound";
set session authorization :"bound";
select run_id as r from pawl.trigger('test.flow') \gset
select is((select tenant from pawl.get_run(:'r')), 'a', 'a run is triggered in its tenant');
select is((select count(*) from pawl.trigger('test.flow', tenant => 'a')), 1::bigint, 'it may be named, too');
select session as s from pawl.register('mine', '{*}') \gset
create temporary table got as select * from pawl.claim(:s, 10);
select is((select string_agg(distinct tenant, ' ') from got), 'a', 'its workers claim of their tenant only');
select is((select count(*) from got), 2::bigint, 'both runs');
select is((select string_agg(x.answer, ' ') from got g, lateral pawl.complete(:s, g.run_id, g.fence) x), 'ok ok', 'and end them');
select is((select answer from pawl.emit('x')), 'ok', 'an event');
select is((select count(*) from pawl.list_runs()), 2::bigint, 'the list has its runs only');
reset session authorization;
select is((select tenant from pawl_data.event), 'a', 'the event is of its tenant');
select is(t.state(:'other'), 'QUEUED', 'the run of the other tenant still waits');
drop owned by :"bound";
drop role :"bound";
select * from finish();
