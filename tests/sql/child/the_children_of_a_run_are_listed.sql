-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session(array['test.parent']) as s \gset
select t.session(array['test.child'], name => 'kid') as c \gset
select pawl.create_workflow('test.child') \g /dev/null
select run_id as r, fence as f from t.held(:s, 'test.parent') \gset
select is((select count(*) from pawl.list_children(:'r')), 0::bigint, 'none so far');
select value ->> 'child' as a from t.item(:s, :'r', :f, 'child', 'a#1', '{}', '{"workflow": "test.child"}', 1) \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select value ->> 'child' as b from t.item(:s, :'r', :f, 'child', 'b#1', '{}', '{"workflow": "test.child"}', 2) \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select value -> 'output' ->> 'run_id' as d from t.item(:s, :'r', :f, 'child', 'd#1', '{}', '{"workflow": "test.child", "detached": true}', 3) \gset
select t.answer(:s, :'r', :f, 'suspend') \g /dev/null
select pawl.complete(:c, o.run_id, o.fence, '7') from t.one(:c) o \g /dev/null
select results_eq(format($$select run_id::text, step, status, worker from pawl.list_children('%s')$$, :'r'),
    $$values ('$$ || :'a' || $$', 'a#1', 'SUCCESS', 'kid'), ('$$ || :'b' || $$', 'b#1', 'QUEUED', null), ('$$ || :'d' || $$', 'd#1', 'QUEUED', null)$$,
    'in the order in which they were started, ended or not, detached or not');
select is((select string_agg(step, ' ') from pawl.list_children(:'r', max_rows => 2)), 'a#1 b#1', 'a page');
select is((select string_agg(step, ' ') from pawl.list_children(:'r', :'b')), 'd#1', 'and the next');
select throws_ok($$select * from pawl.list_children(gen_random_uuid())$$, 'PW001', null, 'an unknown run');
select 'tc_' || current_database() as other \gset
create role :"other";
select pawl.grant_role(:'other', 'reader', 'other') \g /dev/null
set role :"other";
select throws_ok(format($$select * from pawl.list_children('%s')$$, :'r'), 'PW001', null, 'one of another tenant');
reset role;
select t.flow('test.graph', '[["one"]]') \g /dev/null
select pawl.create_flow('test.deep'), pawl.add_step('test.deep', 'inner', options => '{"workflow": "test.graph"}') \g /dev/null
select run_id as g from pawl.trigger('test.deep') \gset
select is((select step || ' ' || workflow from pawl.list_children(:'g')), 'inner test.graph', 'of a flow by the name of its step');
drop owned by :"other";
drop role :"other";
select * from finish();
