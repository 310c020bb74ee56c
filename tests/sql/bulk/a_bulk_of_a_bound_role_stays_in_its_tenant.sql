-- SPDX-License-Identifier: Apache-2.0
-- An operator that is bound to a tenant acts on its runs only, and sees and stops its bulks only.
select plan(12);
select t.session() as s \gset
select pawl.create_workflow('b.flow') \g /dev/null
select pawl.trigger('b.flow', tenant => u) from unnest(array['a', 'a', 'b', '']) u \g /dev/null
select t.later('1 s', :s);
select 'bulk_op_' || to_hex((random() * 1e15)::bigint) as op \gset
create role :op login;
select pawl.grant_role(:'op', 'operator', tenant => 'a') \g /dev/null
select pawl.begin_bulk('cancel', '{"workflow": "no.such"}') as foreign \gset
set session authorization :op;
select is((select runs from pawl.preview_bulk('pause', '{}')), 2::bigint, 'a preview counts its runs');
select throws_ok($$select pawl.preview_bulk('pause', '{"tenant": "b"}')$$, 'PW001', null, 'another tenant is not found');
select throws_ok($$select pawl.begin_bulk('pause', '{"tenant": ""}')$$, 'PW001', null, 'nor is the tenant without a name');
select pawl.begin_bulk('pause', '{}') as own \gset
select is((select array_agg(bulk) from pawl.list_bulks()), array[:own::bigint], 'it sees its bulks');
select is(pawl.stop_bulk(:foreign), 'not_found', 'and stops no other');
reset session authorization;
select t.later('0.1 s', :s), t.later('2 s', :s) \g /dev/null
select is((select array_agg(distinct tenant) from pawl_data.task where paused is not null), array['a'], 'its runs are paused');
select is((select handled from pawl.list_bulks() where bulk = :own), 2::bigint, 'and no others');
select is((select count(*) from pawl.list_bulks()), 2::bigint, 'a role that is not bound sees all');
select is((select state from pawl.list_bulks() where bulk = :foreign), 'done', 'the other is done');
-- Where no keeper runs, a tick of the tenant continues the bulks of the tenant, and no others.
select pawl.begin_bulk('resume', '{"tenant": "b"}', 1000) as foreign \gset
select pawl.test_clock_advance('10 s') \g /dev/null
select count(*) as chores from pawl_data.chore where due_at <= pawl.now() \gset
set session authorization :op;
select pawl.begin_bulk('resume', '{}', 1000) as own \gset
call pawl.tick();
reset session authorization;
select is((select state || ' ' || handled from pawl.list_bulks() where bulk = :own), 'done 2', 'a tick of the tenant has continued its bulk');
select is((select state || ' ' || handled from pawl.list_bulks() where bulk = :foreign), 'running 0', 'and no other');
select is((select count(*) from pawl_data.chore where due_at <= pawl.now()) >= :chores, true, 'and has done no chore');
select pawl.revoke_role(:'op', 'operator') \g /dev/null
drop role :op;
select * from finish();
