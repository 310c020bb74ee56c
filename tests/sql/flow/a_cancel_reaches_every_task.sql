-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select t.flow('c.flow', '[["a"], ["b"], ["c", "a"]]');
select run_id as r from pawl.trigger('c.flow', '{}') \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'nothing is held');
select is(t.state(:'r'), 'CANCELLED', 'so it ends at once');
select run_id as r from pawl.trigger('c.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid], 'enough')), 'ok', 'two are held');
select is((select count(*) from pawl.heartbeat(:s) where notice = 'cancelled'), 2::bigint, 'both are told');
select is(t.done(:s, :'r', 'a', '1'), 'cancelled', 'no forward record after a cancel');
select is(t.state(:'r'), 'RUNNING', 'the other is still held');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'already', 'once is enough');
select is(t.failed(:s, :'r', 'b', '{}'), 'cancelled', 'the other lets go');
select is((select status || ' ' || (error ->> 'message') from pawl.result(:'r')), 'CANCELLED enough', 'and it ends');
select * from finish();
