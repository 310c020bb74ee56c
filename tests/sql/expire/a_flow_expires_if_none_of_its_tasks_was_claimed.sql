-- SPDX-License-Identifier: Apache-2.0
select plan(12);

select t.flow('f', '[["a"], ["b"], ["c", "a", "b"]]') \g /dev/null
-- Time passes, and no claim does housekeeping because of that.
create function t.moves_on(by interval) returns void language sql as $$
    select setval('pawl_data.housekeeping_clock', pawl._micros(pawl.test_clock_advance(by)) + 100000)
$$;
select t.session(lease => '1 day') as s \gset
select run_id as r from pawl.trigger('f', expires => '1 min') \gset
select matches(pawl.why(:'r'), 'It expires in 60 s if no worker claims it\.$', 'why says until when');
select t.later('61 s', :s) \g /dev/null
select is((select status || ' ' || (error ->> 'code') from pawl.result(:'r')), 'CANCELLED expired', 'it has ended');
select is((select count(*) from pawl_data.task), 0::bigint, 'with its tasks');
select is((select count(*) from pawl_data.wait), 0::bigint, 'and its limit');

-- A claim meets it before housekeeping does.
select run_id as r from pawl.trigger('f', expires => '1 s') \gset
select run_id as o from pawl.trigger('f', delay => '1 s', expires => '1 hour') \gset
select t.moves_on('1 s') \g /dev/null
select is((select count(*) from pawl.claim(:s, 10) c where c.run_id = :'r'), 0::bigint, 'no task of it is started');
select is((select error ->> 'code' from pawl.result(:'r')), 'expired', 'and it is ended');

-- One task that was claimed in time is enough.
select t.later('1 s', :s) \g /dev/null
select count(*) from pawl.claim(:s, 10) \g /dev/null
select run_id as r from pawl.trigger('f', expires => '1 s') \gset
select is((select count(*) from pawl.claim(:s, 1)), 1::bigint, 'one task is claimed');
select t.moves_on('1 s') \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'so the other can be claimed later');
select t.later('1 s', :s) \g /dev/null
select is(t.state(:'r'), 'RUNNING', 'the flow goes on');
select is((select count(*) from pawl_data.wait where run_id = :'r'), 0::bigint, 'its limit is gone');

-- A task that has ended is enough, too.
select run_id as e from pawl.trigger('f', expires => '1 min') \gset
select count(*) from pawl.claim(:s, 10) \g /dev/null
select is(t.done(:s, :'e', 'a', '1'), 'ok', 'one of its tasks ends');
select t.later('2 min', :s) \g /dev/null
select is(t.state(:'e'), 'RUNNING', 'it goes on, too');
select * from finish();
