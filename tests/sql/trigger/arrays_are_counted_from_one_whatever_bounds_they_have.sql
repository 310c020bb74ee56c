-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.trigger('test.flow', key => 'k1', key_ttl => '1 ms') \g /dev/null
select pg_sleep(0.05) \g /dev/null
create temporary table made as
select m.* from pawl.trigger_many('test.flow', array['1', '2', '3']::json[], array['k1', 'k2', 'k3'],
    ids => format('[0:2]={%s,%s,%s}', pawl.make_id(), pawl.make_id(), pawl.make_id())::uuid[]) m;
select is((select string_agg(item || ' ' || created, ', ' order by item) from made), '1 true, 2 true, 3 true', 'each item has an answer');
select is((select count(distinct run_id)::int from made), 3, 'and a run');
select * from finish();
