-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w') \g /dev/null
create function runs() returns text language sql as $$ select string_agg(input::text, ' ' order by input::text) from pawl_data.task $$;
select pawl.create_subscription('s', 't', 'w') \g /dev/null
select pawl.emit('t', '1') \g /dev/null
select is(pawl.pause_subscription('s', 'moving'), 'ok', 'paused');
select is(pawl.pause_subscription('s'), 'already', 'already');
select is((select (paused, paused_why)::text from pawl.list_subscriptions()), '(t,moving)', 'which is shown');
call pawl.tick(true);
select pawl.emit('t', '2') \g /dev/null
call pawl.tick(true);
select is(runs(), null, 'in a pause no run is started');
select is((select deferred from pawl.list_subscriptions()), 2::bigint, 'its events are kept');
select is(pawl._held_subscriptions(pawl.now(), 1, null), '{}', 'and give housekeeping nothing to do');
select is(pawl.resume_subscription('s'), 'ok', 'resumed');
select is(pawl.resume_subscription('s'), 'already', 'already');
select pawl.emit('t', '3') \g /dev/null
call pawl.tick(true);
select is(runs(), '1 2 3', 'then it starts them');
call pawl.tick(true);
select is((select count(*) from pawl_data.task), 3::bigint, 'once');
-- A pause that is longer than events are retained.
select pawl.pause_subscription('s') \g /dev/null
select pawl.emit('t', '4') \g /dev/null
call pawl.tick(true);
select pawl.test_clock_advance('4 days') \g /dev/null
select is((select count(*) from pawl.doctor() where what = 'subscription' and level = 'warning'), 1::bigint, 'doctor warns of a long pause');
select pawl.test_clock_advance('4 days') \g /dev/null
select pawl._forget_held(pawl.now()) \g /dev/null
select is((select deferred from pawl.list_subscriptions()), 0::bigint, 'events that are no longer retained are forgotten');
-- Deleted in a pause.
select pawl.emit('t', '5') from generate_series(1, 10) \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.subscription_held), 10::bigint, 'deferred');
select is(pawl.delete_subscription('s'), 'ok', 'deleted');
call pawl.tick(true);
call pawl.tick(true);
select is((select count(*) from pawl_data.subscription_held), 0::bigint, 'and forgotten');
select is(runs(), '1 2 3', 'without runs');
select is((select count(*) from pawl_data.action where what in ('create_subscription', 'pause_subscription', 'resume_subscription', 'delete_subscription')), 5::bigint, 'each is an act');
select * from finish();
