-- SPDX-License-Identifier: Apache-2.0
-- 1. An operator begins a bulk, and leaves its transaction open. 2. Another begins one, and housekeeping continues that. begin_bulk locks nothing that
-- they need.
select plan(2);
select pawl.create_workflow('b.flow') \g /dev/null
select run_id as r from pawl.trigger('b.flow') \gset
select t.later('1 s');
select t.other_holds($$select pawl.begin_bulk('pause', '{"tenant": "acme"}')$$);
set lock_timeout to '10 s';
select lives_ok($$select pawl.begin_bulk('pause', '{"workflow": "b.flow"}')$$, 'another bulk begins');
select t.later('1 s');
select is(t.state(:'r'), 'PAUSED operator', 'and has its turn');
select t.other_done();
select * from finish();
