-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select 'ti_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', 'producer', 'a') \gset
select pawl.create_workflow('test.flow') \gset
select run_id as b from pawl.trigger('test.flow', tenant => 'b', id => pawl.make_id()) \gset
set session authorization :"bound";
select throws_ok(format('select * from pawl.trigger(%L, id => %L)', 'test.flow', :'b'), 'PW001', null, 'a trigger with that id is refused');
reset session authorization;
select is((select tenant from pawl.get_run(:'b')), 'b', 'the run is untouched');
drop owned by :"bound";
drop role :"bound";
select * from finish();
