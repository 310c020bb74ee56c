-- SPDX-License-Identifier: Apache-2.0
-- Before housekeeping has come to it, too.
select plan(19);

select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select t.session(lease => '1 day') as s \gset
-- Time passes, and no claim does housekeeping because of that.
create function t.moves_on(by interval) returns void language sql as $$
    select setval('pawl_data.housekeeping_clock', pawl._micros(pawl.test_clock_advance(by)) + 100000)
$$;
select run_id as a from pawl.trigger('test.flow', expires => '1 s') \gset
select t.moves_on('1 ms') \g /dev/null
select run_id as b from pawl.trigger('test.flow', expires => '5 s') \gset
select t.moves_on('1 ms') \g /dev/null
select run_id as c from pawl.trigger('test.flow') \gset
select t.moves_on('1 s') \g /dev/null
select is((select count(*) from pawl.claim(:s, 1)), 0::bigint, 'a claim of one run meets the expired one');
select is((select error ->> 'code' from pawl.result(:'a')), 'expired', 'and ends it');
select set_eq(format('select run_id from pawl.claim(%s, 10)', :s), array[:'b', :'c']::uuid[], 'the next one gets the others');
select is((select count(*) from pawl_data.wait where run_id = :'a'), 0::bigint, 'no limit is left');

-- A worker that rests is told of what is behind it.
select pawl.create_workflow('test.other') \g /dev/null
select t.ear() \g /dev/null
select t.rester(array['test.other']) as rester \gset
select run_id as d from pawl.trigger('test.other', expires => '1 s') \gset
select t.moves_on('1 s') \g /dev/null
-- Not what the trigger notified.
select t.rung('select null') \g /dev/null
select isnt((select t.rung(format('select count(*) from pawl.claim(%s, 1)', :s))), null, 'a claim that ends an expired run rings');
select is((select error ->> 'code' from pawl.result(:'d')), 'expired', 'it has ended that run');

-- In a lane.
select t.limited('test.lane', 1) \g /dev/null
select run_id as e from pawl.trigger('test.lane', limit_key => 'k', expires => '1 s') \gset
select t.moves_on('1 ms') \g /dev/null
select run_id as g from pawl.trigger('test.lane', limit_key => 'k') \gset
select t.moves_on('1 s') \g /dev/null
select is((select count(*) from pawl.claim(:s, 1)), 0::bigint, 'in a lane');
select is((select error ->> 'code' from pawl.result(:'e')), 'expired', 'it is ended, too');
select is((select run_id from pawl.claim(:s, 1)), :'g'::uuid, 'and holds no place of the lane');
select is(t.lane_faults(), 'none', 'the lane is right');

-- A run whose end failed or was put off is not started either.
select run_id as h from pawl.trigger('test.flow', expires => '1 s') \gset
select t.moves_on('1 ms') \g /dev/null
select run_id as i from pawl.trigger('test.flow') \gset
select t.moves_on('1 s') \g /dev/null
select pawl._defer_limit(w, pawl.now() + interval '1 min') from pawl_data.wait w where w.run_id = :'h' \g /dev/null
select is((select array_agg(run_id) from pawl.claim(:s, 10)), array[:'i']::uuid[], 'a run whose end was put off');
select is((select error ->> 'code' from pawl.result(:'h')), 'expired', 'is ended');

-- One that cannot be ended waits for housekeeping, and others are claimed.
select run_id as j from pawl.trigger('test.flow', expires => '1 s') \gset
select t.moves_on('1 ms') \g /dev/null
select run_id as k from pawl.trigger('test.flow') \gset
select t.moves_on('1 s') \g /dev/null
create function t.no_end() returns trigger language plpgsql as $$ begin raise exception 'the disk is broken'; end $$;
create trigger no_end before insert on pawl_data.run for each row when (new.status = 'c') execute function t.no_end();
select is((select array_agg(run_id) from pawl.claim(:s, 10)), array[:'k']::uuid[], 'one that cannot be ended keeps no other waiting');
select is(t.state(:'j'), 'PAUSED delay', 'it waits');
select matches((select string_agg(found, ' ') from pawl.doctor()), 'the disk is broken', 'doctor knows');
drop trigger no_end on pawl_data.run;
select t.moves_on('61 s') \g /dev/null
update pawl_data.task set place = 'r', reason = null where run_id = :'j';
call pawl.tick(true);
select is((select error ->> 'code' from pawl.result(:'j')), 'expired', 'until it can be ended');

-- Nothing of a claim that met no expired run.
select run_id as l from pawl.trigger('test.flow', expires => '1 min') \gset
select is((select run_id from pawl.claim(:s, 10)), :'l'::uuid, 'a run in time is started');
select t.later('2 min', :s) \g /dev/null
select is(t.state(:'l'), 'RUNNING', 'and goes on');
select is((select count(*) from pawl_data.wait where run_id = :'l'), 0::bigint, 'its limit is gone');
select * from finish();
