-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select t.session() as dead \gset
select pawl.create_flow('bad.flow', max_attempts => 1) as c \gset
select pawl.add_step('bad.flow', 'a') as c \gset
select pawl.add_step('bad.flow', 'b') as c \gset
select run_id as r from pawl.trigger('bad.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.failed(:s, :'r', 'a', '{"message": "no"}'), 'ok', 'one fails');
select t.later('29 s', :s);
select is(t.state(:'r'), 'RUNNING', 'the other has a grace');
select t.later('2 s', :s);
select is(t.state(:'r'), 'ERROR', 'then it ends');
select is(t.done(:s, :'r', 'b', '2'), 'lease_lost', 'what comes late is refused');
select * from finish();
