-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select 'ti_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', 'producer', 'a') \gset
select t.session() as s \gset
select pawl.create_workflow('test.flow') \gset
select run_id as b from pawl.trigger('test.flow', tenant => 'b', id => pawl.make_id()) \gset
set session authorization :"bound";
select throws_ok(format('select * from pawl.trigger(%L, id => %L)', 'test.flow', :'b'), 'PW001', null, 'a trigger with that id is refused');
select throws_ok(format('select * from pawl.trigger(%L, id => %L, id_is_new => true)', 'test.flow', :'b'), 'PW001', null, 'also if it is called new');
reset session authorization;
select is((select tenant from pawl.get_run(:'b')), 'b', 'the run is untouched');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'b', :f, 'complete', null, '1'), 'ok', 'it ends');
set session authorization :"bound";
select throws_ok(format('select * from pawl.trigger(%L, id => %L, id_is_new => true)', 'test.flow', :'b'), 'PW001', null, 'then it is refused, too');
select throws_ok(format('select * from pawl.trigger_many(%L, array[''{}'']::json[], ids => array[%L]::uuid[], ids_are_new => true)', 'test.flow', :'b'), 'PW001', null, 'among many as well');
reset session authorization;
select is((select tenant from pawl.get_run(:'b')), 'b', 'and is as it was');
drop owned by :"bound";
drop role :"bound";
select * from finish();
