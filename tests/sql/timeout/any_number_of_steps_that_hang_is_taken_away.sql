-- SPDX-License-Identifier: Apache-2.0
-- A worker goes on telling of a step that hangs after it was taken away, and a round takes away a hundred.
select plan(2);

select t.session(lease => '1 day') as s \gset
select t.run() from generate_series(1, 250) \g /dev/null
select json_agg(json_build_object('run', c.run_id, 'step', 'slow#1', 'started_ms', 0, 'timeout_ms', 1000)) as running
from pawl.claim(:s, 250) c \gset
create function pg_temp.taken() returns bigint language sql as $$select count(*) from pawl_data.audit a where a.what = 'step_timeout'$$;
select pawl.heartbeat(:s, :'running') \g /dev/null
select t.later('10 s') \g /dev/null
select is(pg_temp.taken(), 100::bigint, 'a hundred at a time');
select pawl.housekeep(), pawl.housekeep() \g /dev/null
select is(pg_temp.taken(), 250::bigint, 'and then the others');

select * from finish();
