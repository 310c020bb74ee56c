-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.stop_clock();
select pawl.create_flow('f.flow') as c \gset
select pawl.add_step('f.flow', 'a', '{}', '{"condition": {"/run": 9}, "unmet": "fail"}') as c \gset
select pawl.add_step('f.flow', 'b', '{}', '{"condition": {"/run": 1}}') as c \gset
select run_id as r from pawl.trigger('f.flow', '1') \gset
select is(t.state(:'r'), 'ERROR', 'it ends');
select is((select count(*) from pawl_data.task), 0::bigint, 'and b has no task');
select * from finish();
