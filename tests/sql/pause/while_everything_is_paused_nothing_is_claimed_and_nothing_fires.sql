-- SPDX-License-Identifier: Apache-2.0
-- pause_all: claims and schedules stop, what is held ends, and everything else goes on.
select plan(34);
select t.session() as s \gset
select * from t.held(:s, 'test.flow') \gset
select pawl.create_schedule('often', 'test.flow', every => '1 min', catch_up => 'none') \g /dev/null
select pawl.create_schedule('all', 'test.flow', every => '10 min', catch_up => 'all', overlap => 'allow') \g /dev/null
select pawl.create_workflow('test.wait') \g /dev/null
select run_id as w from pawl.trigger('test.wait') \gset
select c.fence as wf from pawl.claim(:s, 1) c where c.run_id = :'w' \gset
select t.run() as r \gset

select is(pawl.pause_all('moving to new disks', 'ada'), 'ok', 'paused');
select is(pawl.pause_all('again', 'ben'), 'already', 'twice: already');
select results_eq($$select subject, name, paused_by, why, refuses_triggers from pawl.list_pauses()$$,
    $$values ('all', null::text, 'ada', 'moving to new disks', false)$$, 'who paused first stays');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'nothing is claimed');
select is((select count(*) from pawl.claim(:s, 10, quiet => true)), 0::bigint, 'not even by a quiet worker');
select is((select ready from pawl.rest(:s)), false, 'a worker that rests finds nothing ready');
select is((select bool_and(paused) from pawl.list_queues()), true, 'all queues are shown as paused');
select matches(pawl.why(:'r'), '^Queued, but ada paused everything at .* UTC: moving to new disks\. Resume everything with pawl\.resume_all\(\)\.$', 'why says so');
select matches((select string_agg(found, ' ') from pawl.doctor()), 'ada has paused everything for .* \(moving to new disks\)', 'and doctor');
select is((select created from pawl.trigger('test.flow', '{}')), true, 'a trigger is taken');

select is(t.answer(:s, :'run_id', :fence, 'step', 'a#1', '1'), 'ok', 'a held run goes on');
select is(t.answer(:s, :'w', :wf, 'event', 'e#1', null, '{"topic": "paid"}') in ('ok'), true, 'waits');
select is(t.answer(:s, :'w', :wf, 'suspend'), 'ok', 'and suspends');
select is(t.answer(:s, :'run_id', :fence, 'complete', null, '2'), 'ok', 'and ends');
select is((select woken from pawl.emit('paid', '{}')), 1, 'an event is stored, and wakes');
select is(t.state(:'w'), 'QUEUED', 'the run is queued');

select count(*) as runs from pawl_data.task \gset
select t.later('30 min', :s);
select is((select count(*) from pawl_data.task), :runs::bigint, 'no schedule fires');
select is(pawl._tick_pieces(pawl.now()) @> array[5], false, 'and no tick is asked to');
select is((select max(fired) from pawl.list_schedules()), 0::bigint, 'not one');
select matches(pawl.why_schedule('often'), '^Fires nothing: ada paused everything at .*Resume everything with pawl\.resume_all\(\)\.', 'why_schedule says so');
select is((select count(*) from pawl.doctor() d where d.what like 'schedule%'), 0::bigint, 'doctor finds no late schedule');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'still nothing is claimed');

select pawl.pause_queue('test.wait') \g /dev/null
select session as s2 from pawl.register('other', array['*']) \gset
select from pawl.rest(:s2) \g /dev/null
select is(pawl.resume_all('ada'), 'ok', 'resumed');
select is(pawl.resume_all('ada'), 'already', 'twice: already');
select results_eq($$select subject, name from pawl.list_pauses()$$, $$values ('queue', 'test.wait')$$, 'the pause of a queue stays');
select is((select count(*) from pawl.claim(:s, 10)), 2::bigint, 'its runs stay where they are, others are claimed');
select matches(pawl.why(:'w'), '^Queued, but .* paused queue test\.wait', 'and why names that pause');
select is((select created from pawl.trigger('test.flow', '{}')), true, 'triggers as before');
select t.later('1 s', :s);
-- A call fires at least one schedule, and others only within 10 ms.
select t.later('1 s', :s);
select is((select fired from pawl.list_schedules() where schedule = 'all'), 3::bigint, 'catch_up all: the times in the pause fire');
select is((select fired from pawl.list_schedules() where schedule = 'often'), 1::bigint, 'catch_up none: only the time of the last minute');
select is((select missed from pawl.list_schedules() where schedule = 'often'), 29::bigint, 'and the others are missed');
select results_eq($$select what, who from pawl.list_actions() where what like '%\_all' order by action_no$$,
    $$values ('pause_all', 'ada'), ('resume_all', 'ada')$$, 'both are on record');
select is((select paused or refuses_triggers from pawl_data.setting), false, 'nothing is left in the settings');
select is((select count(*) from pawl_data.pause where subject = 'all'), 0::bigint, 'nor in the pauses');
select * from finish();
