-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select run_id as r from pawl.trigger('a.flow', delay => '1 hour') \gset
select is(t.state(:'r'), 'PAUSED delay', 'it waits');
select is((select due_at - pawl.now() from pawl.get_run(:'r')), interval '1 hour', 'for an hour by the clock of the database');
select t.later('59 min 59 s') \g /dev/null
select is_empty(format('select * from pawl.claim(%s)', :s), 'not claimed before');
select t.later('1 s') \g /dev/null
select is((select run_id from pawl.claim(:s)), :'r'::uuid, 'then it is');

select * from finish();
