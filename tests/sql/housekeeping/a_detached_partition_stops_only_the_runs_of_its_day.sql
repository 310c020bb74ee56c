-- SPDX-License-Identifier: Apache-2.0
-- One day of pawl_data.audit was detached by hand, and the worker that held a run of that day is lost. Others claim, are swept, and end; doctor()
-- says what is wrong, and the run goes on when it is mended.
select plan(13);

select pawl.test_clock_set((date_trunc('day', clock_timestamp() at time zone 'UTC') + interval '23 hours 50 min') at time zone 'UTC') \g /dev/null
select pawl.create_workflow('healthy') \g /dev/null
select t.session('{healthy}', '1 day') as s \gset
select t.session('{test.flow}', '15 min') as dies \gset
select run_id as broken from t.held(:dies) \gset
-- After midnight.
select pawl.test_clock_advance('14 min') \g /dev/null
select t.session('{healthy}', '1 min') as other \gset
select run_id as fine from pawl.trigger('healthy') \gset
select count(*) from pawl.claim(:other, 1) \g /dev/null
select 'audit_' || to_char(pawl._id_time(:'broken') at time zone 'UTC', 'YYYYMMDD') as part \gset
alter table pawl_data.audit detach partition pawl_data.:part;

select pawl.test_clock_advance('5 min') \g /dev/null
select run_id as third from pawl.trigger('healthy') \gset
select is((select count(*) from pawl.claim(:s, 10)), 2::bigint, 'a claim gets what another lost worker held, and a new run');
select is(t.state(:'fine') || ', ' || t.state(:'third'), 'RUNNING, RUNNING', 'both');
select is((select count(*) from pawl.heartbeat(:s)), 1::bigint, 'a heartbeat is answered');
call pawl.tick(true);
select is((select session_id from pawl_data.task where run_id = :'broken'), :dies::bigint, 'the run of that day is left');
select is((select level || ' ' || (found like 'the last round failed: run ' || :'broken' || ': 23514 %') from pawl.doctor() where what = 'chore sessions'), 'error true', 'doctor names it');
select is((select found from pawl.doctor() where what = 'partitions'), format('table %s is not a partition of audit any more: nothing of that day can be recorded', :'part'), 'and the table');
select cure as mend from pawl.doctor() where what = 'partitions' \gset
:mend;
select pawl.test_clock_advance('20 s') \g /dev/null
call pawl.tick(true);
select is((select place from pawl_data.task where run_id = :'broken'), 'r'::"char", 'with its cure the run is taken back');
select is((select count(*) from pawl.doctor() where what = 'partitions'), 0::bigint, 'and nothing is missing');
select t.later('11 min', :s) \g /dev/null
select is((select count(*) from pawl.doctor() where what like 'chore%'), 0::bigint, 'the note is forgotten');

-- A table that is gone.
select 'input_' || to_char(pawl._id_time(:'broken') at time zone 'UTC', 'YYYYMMDD') as gone \gset
drop table pawl_data.:gone;
select is((select found from pawl.doctor() where what = 'partitions'), format('there is no partition %s: nothing of that day can be recorded', :'gone'), 'a table that was dropped is missed, too');
select cure as mend from pawl.doctor() where what = 'partitions' \gset
select matches(:'mend'::text, 'select pawl._make_partition', 'with what to do');
select regexp_replace(:'mend', '.*owner: ', '') as mend \gset
:mend \g /dev/null
select is((select count(*) from pawl.doctor() where what = 'partitions'), 0::bigint, 'which does it');
select is((select count(*) from pawl.doctor() where what = 'columns'), 0::bigint, 'no column is foreign');

select * from finish();
