-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session(array['test.parent']) as s \gset
select t.session(array['test.child']) as c \gset
select pawl.create_workflow('test.child') \g /dev/null
select run_id as r, fence as f from t.held(:s, 'test.parent') \gset
create function pg_temp.child(p_run uuid, p_step text) returns text language sql as $$
    select e ->> 'child' from pawl.get_run(p_run) g, json_array_elements(g.steps) e where e ->> 'name' = p_step
$$;
select value ->> 'child' as child from t.item(:s, :'r', :f, 'child', 'a#1', '{}', '{"workflow": "test.child"}', 1) \gset
select is(pg_temp.child(:'r', 'a#1'), :'child', 'while the parent waits for it');
select value -> 'output' ->> 'run_id' as loose from t.item(:s, :'r', :f, 'child', 'b#1', '{}', '{"workflow": "test.child", "detached": true}', 2) \gset
select is(pg_temp.child(:'r', 'b#1'), :'loose', 'a detached one');
select t.answer(:s, :'r', :f, 'suspend') \g /dev/null
select pawl.complete(:c, o.run_id, o.fence, '7') from t.one(:c) o where o.run_id = :'child' \g /dev/null
select is(pg_temp.child(:'r', 'a#1'), :'child', 'and when it has ended');
select run_id as r2, fence as f2 from t.one(:s) \gset
select pawl.complete(:s, :'r', :f2) \g /dev/null
select run_id as k from pawl.fork(:'r', 'b') \gset
select is(pg_temp.child(:'k', 'a#1'), null, 'a fork started none');
select is((select e ->> 'copied_from' from pawl.get_run(:'k') g, json_array_elements(g.steps) e), :'r', 'its copy says where it is from');
select * from finish();
