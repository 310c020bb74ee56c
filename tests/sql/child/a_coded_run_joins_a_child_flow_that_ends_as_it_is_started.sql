-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.create_workflow('top') as c \gset
select pawl.create_flow('in.flow') as c \gset
select pawl.add_step('in.flow', 'each', '{}', '{"map": "run"}') as c \gset
select run_id as r from pawl.trigger('top', '1') \gset
select fence as f from t.one(:s) \gset
select is((select string_agg(answer, ' ' order by item) from pawl.commit(:s, array[:'r', :'r']::uuid[], array[:f, :f], '{child,suspend}', '{k#1,null}', '{[],null}', null, null, null, array['{"workflow": "in.flow"}', null])), 'ok ok', 'a child with nothing to do');
select is((select count(*) from pawl_data.wait where child_id is not null), 0::bigint, 'nobody waits for a run that has ended');
select is(t.state(:'r'), 'QUEUED', 'so its parent goes on');
select * from finish();
