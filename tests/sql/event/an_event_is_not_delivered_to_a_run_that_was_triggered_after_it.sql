-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'go')), 'ok', 'a run waits');
-- Those that wait, too, and come before it.
insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, created_at, due_at)
select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 0, 'w#1', 'e', 1, '', 'go', '', w.digest, pawl.now(), 'infinity'
from pawl_data.wait w, generate_series(1, 1000) n;
select is((select woken from pawl.emit('go', '1')), 0, 'an event has not come to it yet');
-- Others come first.
update pawl_data.delivery set due_at = pawl.now() + interval '500 ms';
select pawl.test_clock_advance('1 ms') as c \gset
select run_id as later, fence as f from t.held(:s) \gset
select is((select value ->> 'state' from pawl.wait_event(:s, :'later', :f, 'w', 'go')), 'PAUSED', 'a run that is triggered now does not find it');
select t.later('1 s', :s);
select is((select string_agg(run_id::text, ' ') from pawl_data.step), :'r', 'and is not given it by housekeeping');
select * from finish();
