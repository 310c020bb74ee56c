-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'event', 'a/w#1', null, '{"topic": "go"}'), 'ok', 'a run waits in one of its branches');
-- Those that wait, too, and come before it.
insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, created_at, due_at)
select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 0, 'w#1', 'e', 1, '', 'go', '', w.digest, pawl.now(), 'infinity'
from pawl_data.wait w, generate_series(1, 1000) n;
select is((select woken from pawl.emit('go', '1')), 0, 'an event has not come to it yet');
select is((select answer || ' ' || value::text from t.item(:s, :'r', :f, 'event', 'b/w#1', null, '{"topic": "go"}')),
    'ok {"state" : "SUCCESS", "output" : 1}', 'another branch takes it itself');
select t.later('1 s', :s);
select is((select string_agg(name, ' ') from pawl_data.step where run_id = :'r'), 'b/w#1', 'housekeeping does not give it to the first, too');
select is((select count(*) from pawl_data.delivery) || ' ' || (select string_agg(name, ' ') from pawl.list_waits(:'r')), '0 a/w#1', 'which waits for the next');
select * from finish();
