-- SPDX-License-Identifier: Apache-2.0
select plan(5);
update pawl_data.setting set grace = '1 h';
select t.session('{f.flow/a}') as s \gset
select t.session() as o \gset
select pawl.create_flow('f.flow', max_attempts => 1) as c \gset
select pawl.add_step('f.flow', 'a') as c \gset
select pawl.add_step('f.flow', 'b') as c \gset
select run_id as r from pawl.trigger('f.flow', '1') \gset
select count(*) from pawl.claim(:s, 10) \gset
-- Another claim of b is open, and is rolled back after a has failed.
select t.other_holds(format('select run_id::text from pawl.claim(%s, 10)', :o));
select t.failed(:s, :'r', 'a', '{}') as c \gset
select t.other_done();
select is((select count(*) from pawl.claim(:o, 10)), 0::bigint, 'nothing new starts');
select is(t.state(:'r'), 'ERROR', 'and the run need not wait for its grace');
-- b is held by a worker that records a step when a fails, and dies then.
select run_id as r from pawl.trigger('f.flow', '1') \gset
select count(*) from pawl.claim(:s, 10) \gset
select task, fence as f from pawl.claim(:o, 10) \gset
select t.other_holds(format('select answer from pawl.commit(%s, array[%L]::uuid[], array[%s], ''{step}'', ''{x#1}'', ''{1}'', ''{1}'', array[%s])', :o, :'r', :f, :task));
select t.failed(:s, :'r', 'a', '{}') as c \gset
select t.other_done();
select is((select notice from pawl.heartbeat(:o) where run_id = :'r'), 'cancelled', 'its holder is told');
select t.later('31 s', :s);
select is(t.state(:'r'), 'ERROR', 'the run ends with its worker');
select t.session() as o2 \gset
select is((select count(*) from pawl.claim(:o2, 10) where run_id = :'r'), 0::bigint, 'nothing new starts');
select * from finish();
