-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.run() \g /dev/null
select pawl.emit('a', '{}') \g /dev/null
select is((select count(*) from pawl.list_runs(since => 'infinity')), 0::bigint, 'runs');
select is((select count(*) from pawl.list_runs(since => '294276-12-31')), 0::bigint, 'the last day there is');
select is((select count(*) from pawl.list_runs(since => '-infinity', before => 'infinity')), 1::bigint, 'runs of all times');
select is((select count(*) from pawl.list_runs(before => '-infinity')), 0::bigint, 'of before all times');
select is((select count(*) from pawl.list_events(since => 'infinity')), 0::bigint, 'events');
select is((select count(*) from pawl.list_events(since => '-infinity', before => 'infinity')), 1::bigint, 'events of all times');
select * from finish();
