-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select pawl.create_flow('o.flow', max_attempts => 1, step_timeout => '9 s') as c \gset
select pawl.add_step('o.flow', 'a', '{}', '{"max_attempts": 2, "base": "1 min", "jitter": 0, "timeout": "3 s", "priority": 5}') as c \gset
select pawl.add_step('o.flow', 'b') as c \gset
select run_id as r from pawl.trigger('o.flow', '5') \gset
select is((select string_agg(workflow || ' ' || step_timeout_ms, ', ' order by task) from pawl.claim(:s, 10)), 'o.flow/a 3000, o.flow/b 9000', 'timeouts');
select is((select string_agg(priority::text, ' ' order by task_no) from pawl_data.task where task_no > 0), '5 100', 'priorities');
select is((select value ->> 'delay_ms' from pawl.fail(:s, :'r', 1, '{}', false, 1000000)), '60000', 'its own policy');
select is(t.state(:'r'), 'RUNNING', 'the other is held');
select is((select value ->> 'final' from pawl.fail(:s, :'r', 1, '{}', false, 2000000)), 'true', 'the policy of the flow');
select * from finish();
