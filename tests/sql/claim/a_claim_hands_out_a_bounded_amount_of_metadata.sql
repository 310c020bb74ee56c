-- SPDX-License-Identifier: Apache-2.0
-- The metadata of a thousand runs could be a gigabyte in one answer.
select plan(6);
create or replace function pawl._claim_max() returns bigint language sql immutable as 'select 50000::bigint';
select t.session() as s \gset
select pawl.create_workflow('test.flow') \gset
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[13]), metadata => to_json(repeat('x', 4998))) \gset
select t.run() as small \gset
create temp table got as select run_id, octet_length(metadata::text) as bytes from pawl.claim(:s, 1000);
select is((select count(*) from got where bytes = 5000), 10::bigint, 'a claim returns as many as the limit holds');
select is((select count(*) from got where run_id = :'small'), 1::bigint, 'and the run without metadata');
select is((select array_agg(distinct fence) from pawl_data.task where place = 'r'), array[0], 'the fences of the others are not raised');
select is((select count(*) from pawl.claim(:s, 1000)), 3::bigint, 'the next claim returns them');
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[3]), metadata => to_json(repeat('x', 60000))) \gset
select is((select count(*) from pawl.claim(:s, 1000)), 1::bigint, 'one run is returned however large its metadata is');
select is((select count(*) from pawl.claim(:s, 1000)) + (select count(*) from pawl.claim(:s, 1000)), 2::bigint, 'and one by each later claim');
select * from finish();
