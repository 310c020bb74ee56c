-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
create temp table made as select * from pawl.trigger_many('a.flow', array(select to_json(n) from generate_series(1, 5000) n), metadata => '{"m": 1}', priority => 7, tenant => 'x');
select is((select count(distinct run_id) from made where created), 5000::bigint, 'five thousand runs');
select is((select count(*) from made m join pawl_data.task k using (run_id) where k.input::text <> m.item::text), 0::bigint, 'each answer stands for its input');
select is((select distinct priority || tenant || metadata::text from pawl_data.task), '7x{"m": 1}', 'with what was asked for');
select ok((select count(distinct pawl.slot_of(run_id)) = 1024 from made), 'in all slots');
select ok((select bool_and(substr(run_id::text, 15, 1) = '7' and substr(run_id::text, 20, 1) ~ '[89ab]') from made), 'in the right layout');
select is((select count(*) from pawl.claim(:s, 1000)), 1000::bigint, 'a thousand are claimed at once');
select is_empty($$select * from pawl.trigger_many('a.flow', array['1']::json[]) m join made using (run_id)$$, 'another call makes other ids');

select * from finish();
