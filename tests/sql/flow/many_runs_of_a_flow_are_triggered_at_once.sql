-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select t.flow('m.flow', '[["a"], ["b", "a"]]');
select is((select count(*) from pawl.trigger_many('m.flow', array(select to_json(i) from generate_series(1, 200) i))), 200::bigint, 'a call');
select is((select count(*) from pawl.trigger_many('m.flow', array(select to_json(i) from generate_series(1, 20) i), ids => array(select pawl.make_id() from generate_series(1, 20)))), 20::bigint, 'with ids');
select t.work(:s) \gset
select is((select count(*) from pawl_data.run where status = 's'), 220::bigint, 'all end');
select is((select count(*) from pawl_data.step), 440::bigint, 'each task recorded once');
select * from finish();
