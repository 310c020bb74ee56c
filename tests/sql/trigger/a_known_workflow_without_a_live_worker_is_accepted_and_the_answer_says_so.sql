-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select pawl.create_workflow('a.flow') \g /dev/null
select is((select created || ' ' || handled from pawl.trigger('a.flow')), 'true false', 'no worker');
select t.session('{b.*}') \g /dev/null
select is((select created || ' ' || handled from pawl.trigger('a.flow')), 'true false', 'a worker of something else');
select t.session('{a.*}', lease => '1 s') as s \gset
select is((select created || ' ' || handled from pawl.trigger('a.flow')), 'true true', 'a worker of it');
select is((select bool_and(handled) from pawl.trigger_many('a.flow', array['1', '2']::json[])), true, 'for many as well');
select pawl.test_clock_advance('2 s') \g /dev/null
select is((select created || ' ' || handled from pawl.trigger('a.flow')), 'true false', 'one whose lease is over is not live');

select * from finish();
