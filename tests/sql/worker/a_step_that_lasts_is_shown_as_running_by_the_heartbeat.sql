-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'slow#1', 'started_ms', 1500))) \g /dev/null
select is((select (steps -> 0 ->> 'name') || ' ' || (steps -> 0 ->> 'state') from pawl.get_run(:'r')), 'slow#1 RUNNING', 'shown');
select is((select count(*) from pawl_data.step where run_id = :'r'), 0::bigint, 'without a row of its own');
select pawl.heartbeat(:s) \g /dev/null
select is((select steps::text from pawl.get_run(:'r')), '[]', 'until the heartbeat says otherwise');

select * from finish();
