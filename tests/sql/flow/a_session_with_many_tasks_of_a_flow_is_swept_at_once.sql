-- SPDX-License-Identifier: Apache-2.0
-- The first that ends changes the others, while they are taken back.
select plan(3);
update pawl_data.setting set crash_max = 1;
select t.session('{many.flow/*}') as s \gset
select pawl.create_flow('many.flow', max_attempts => 1) as c \gset
select pawl.add_step('many.flow', 'each', '{}', '{"map": "run"}') as c \gset
select run_id as r from pawl.trigger('many.flow', (select json_agg(n) from generate_series(1, 25) n)) \gset
select is((select count(*) from pawl.claim(:s, 100)), 25::bigint, 'a worker has all tasks of a run');
select t.later('31 s') \g /dev/null
select is((select count(*) from pawl_data.task where session_id = :s), 0::bigint, 'it is lost, and has none');
select is((select status || ' ' || (error -> 'error' ->> 'code') from pawl.result(:'r')), 'ERROR crashed', 'the run ends');
select * from finish();
