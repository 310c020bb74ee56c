-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.heartbeat(:s) from generate_series(1, 5) \g /dev/null
select is((select count(*) from pawl_data.audit), 0::bigint, 'no row');
select is((select count(*) from pawl_data.worker), 1::bigint, 'one row for each worker, whatever it holds');

select * from finish();
