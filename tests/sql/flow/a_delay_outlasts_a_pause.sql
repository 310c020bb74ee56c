-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select pawl.create_flow('d.flow') as c \gset
select pawl.add_step('d.flow', 'a') as c \gset
select pawl.add_step('d.flow', 'b', '{a}', '{"delay": "1 h"}') as c \gset
select run_id as r from pawl.trigger('d.flow', '5') \gset
select t.one(:s) as c \gset
select answer from pawl.pause(array[:'r'::uuid]) \gset
select t.done(:s, :'r', 'a', '1') as c \gset
select answer from pawl.resume(array[:'r'::uuid]) \gset
select is(t.state(:'r'), 'PAUSED delay', 'still delayed');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'so nothing can be claimed');
select * from finish();
