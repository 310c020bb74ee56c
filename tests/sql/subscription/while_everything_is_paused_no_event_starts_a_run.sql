-- SPDX-License-Identifier: Apache-2.0
-- Events are kept, and start their runs after resume_all().
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w') \g /dev/null
select pawl.create_subscription('s', 't', 'w') \g /dev/null
create function started() returns bigint language sql as $$ select count(*) from pawl_data.task $$;
select pawl.pause_all('moving', 'ada') \g /dev/null
select pawl.emit('t', '1') \g /dev/null
call pawl.tick(true);
select is(started(), 0::bigint, 'no run while everything is paused');
select ok(not 6 = any (pawl._tick_pieces(pawl.now())), 'and housekeeping is not asked for it');
select pawl.resume_all('ada') \g /dev/null
call pawl.tick(true);
select is(started(), 1::bigint, 'the event was kept');
select * from finish();
