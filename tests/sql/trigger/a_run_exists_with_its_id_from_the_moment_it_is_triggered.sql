-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select pawl.create_workflow('a.flow') \g /dev/null
select t.stop_clock() \g /dev/null
begin;
select run_id as r, created as c from pawl.trigger('a.flow', '{"x": 1}') \gset
select ok(:'c', 'created');
select is(t.state(:'r'), 'QUEUED', 'it can be seen at once by whoever triggered it');
select is((select input::text from pawl.get_run(:'r')), '{"x": 1}', 'with its input');
commit;
select is(t.state(:'r'), 'QUEUED', 'and by everybody after the commit');

select * from finish();
