-- SPDX-License-Identifier: Apache-2.0
-- An operator that is bound to a tenant acts on its runs only, and sees and stops its bulks only.
select plan(9);
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
select pawl.revoke_role(:'op', 'operator') \g /dev/null
drop role :op;
select * from finish();
