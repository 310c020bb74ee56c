-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select pawl.create_flow('u.flow', max_attempts => 1) as c \gset
select pawl.add_step('u.flow', 'book', '{}', '{"undo": "unbook"}') as c \gset
select pawl.add_step('u.flow', 'pay', '{book}') as c \gset
select t.flow('o.flow', '[["x"], ["y", "x"], ["z", "y"]]');
select run_id as o from pawl.trigger('o.flow', '1') \gset
select t.one(:s) as c \gset
select t.done(:s, :'o', 'x', '1') as c \gset
select t.one(:s) as c \gset
select run_id as r from pawl.trigger('u.flow', '1') \gset
select t.one(:s) as c \gset
select t.done(:s, :'r', 'book', '1') as c \gset
select t.one(:s) as c \gset
select t.failed(:s, :'r', 'pay', '{}') as c \gset
select is((select answer from pawl.commit(:s, array[:'o']::uuid[], array[1], '{release}', null, null, null, array[t.task_of(:'o', 'y')])), 'ok', 'a task that is given back');
select is((select string_agg(workflow || ' ' || coalesce(record #>> '{undos,0,name}', '-'), ', ' order by workflow) from pawl.claim(:s, 10)), 'o.flow/y -, u.flow book#1', 'the rollback has its undos');
select * from finish();
