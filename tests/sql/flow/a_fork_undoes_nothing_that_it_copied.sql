-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.create_workflow('kid') as c \gset
select pawl.create_flow('u.flow', max_attempts => 1) as c \gset
select pawl.add_step('u.flow', 'book', '{}', '{"undo": "unbook", "workflow": "kid"}') as c \gset
select pawl.add_step('u.flow', 'pay', '{book}', '{"undo": "unpay"}') as c \gset
select pawl.add_step('u.flow', 'end', '{pay}') as c \gset
select run_id as r from pawl.trigger('u.flow', '{}') \gset
select t.work(:s) \gset
select is(t.state(:'r'), 'SUCCESS', 'a run that has ended');
select run_id as f from pawl.fork(:'r', 'pay') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'f', 'pay', '1') as c \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.failed(:s, :'f', 'end', '{}'), 'ok', 'the fork fails');
select is((select string_agg(u ->> 'name', ' ') from pawl.claim(:s, 10), json_array_elements(record -> 'undos') u), 'pay#1', 'and undoes what it did');
select * from finish();
