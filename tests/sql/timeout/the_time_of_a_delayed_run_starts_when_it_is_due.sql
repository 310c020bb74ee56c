-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select pawl.create_workflow('limited.flow', run_timeout => '1 min') \g /dev/null
select t.stop_clock() \g /dev/null
select run_id as r from pawl.trigger('limited.flow', delay => '1 hour') \gset
select t.later('1 hour 30 s') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'it has a minute from then on');
select t.later('31 s') \g /dev/null
select is(t.state(:'r'), 'ERROR', 'and not more');

select * from finish();
