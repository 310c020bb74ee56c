-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select pawl.create_flow('d.flow') as c \gset
select pawl.add_step('d.flow', 'a') as c \gset
select pawl.add_step('d.flow', 'b', '{a}', '{"delay": "1 min"}') as c \gset
select run_id as r from pawl.trigger('d.flow', '5', delay => '1 h') \gset
select is(t.state(:'r'), 'PAUSED delay', 'a delayed run');
select t.later('61 min', :s);
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'then it starts');
select t.done(:s, :'r', 'a', '1') as c \gset
select is(t.state(:'r'), 'PAUSED delay', 'a delayed step');
select t.later('61 s', :s);
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'then it starts');
select * from finish();
