-- SPDX-License-Identifier: Apache-2.0
-- Whether a run has a key to free, or was tried again, makes no difference.
select plan(3);
select t.session() as s \gset
select pawl.create_flow('s.flow', max_attempts => 1) as c \gset
select pawl.add_step('s.flow', 'a') as c \gset
select run_id as r from pawl.trigger('s.flow', '1') \gset
select t.work(:s) \gset
select ok((select started_at is not null from pawl.get_run(:'r')), 'a plain run');
select run_id as r from pawl.trigger('s.flow', '1', key => 'k', key_while_active => true) \gset
select t.work(:s) \gset
select ok((select started_at is not null from pawl.get_run(:'r')), 'one with a key');
select run_id as r from pawl.trigger('s.flow', '1') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'a', '{}') as c \gset
select answer as c from pawl.retry(array[:'r'::uuid]) \gset
select t.work(:s) \gset
select ok((select started_at is not null from pawl.get_run(:'r')), 'one in its second round');
select * from finish();
