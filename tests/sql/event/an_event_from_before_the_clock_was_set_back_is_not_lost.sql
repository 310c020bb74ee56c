-- SPDX-License-Identifier: Apache-2.0
-- The row of a topic tells a wait whether an event may be there. It is removed when it is old, but not before its events.
select plan(5);
select t.run() as r \gset
select pawl.now() as start, event_retention as kept from pawl_data.setting \gset
select pawl.test_clock_set(:'start'::timestamptz + :'kept'::interval / 2) \g /dev/null
select pawl.housekeep() \g /dev/null
select is((select woken from pawl.emit('go', '1')), 0, 'an event is emitted while the clock is ahead');
select pawl.test_clock_set(:'start') \g /dev/null
select pawl.emit('go', '2') \g /dev/null
select is((select touched_at from pawl_data.topic), :'start'::timestamptz, 'the row of the topic is used again after the clock was set back');
select pawl.test_clock_set(:'start'::timestamptz + :'kept'::interval + interval '1 min') \g /dev/null
update pawl_data.chore set due_at = '-infinity' where chore = 'topics';
select pawl.housekeep() \g /dev/null
select is((select count(*) from pawl_data.topic), 1::bigint, 'the row stays, because the first event is retained');
select t.session() as s \gset
select fence as f from t.one(:s) \gset
select is((select value ->> 'output' from pawl.wait_event(:s, :'r', :f, 'w', 'go')), '1', 'a wait finds it');
update pawl_data.topic set touched_at = '-infinity', emitted_at = '-infinity';
update pawl_data.chore set due_at = '-infinity' where chore = 'topics';
select pawl.housekeep() \g /dev/null
select is((select count(*) from pawl_data.topic), 0::bigint, 'an old row goes');
select * from finish();
