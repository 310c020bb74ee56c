-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create temp table bad as select * from (values ('a'), (''), ('#1'), ('a#'), ('a##1'), ('a#1#2'), ('/a#1'), ('b//a#1'), ('b/'), ('A#1'), ('a b#1'),
    ('rollback:a#1'), ('ä#1'), ('a#1 '), (E'a#1\n'), ('a#1234567890'), (repeat('x', 101) || '#1'), (repeat('b', 101) || '/a#1'),
    (repeat('b/', 150) || 'a#1'), (null)) v (name);
select is((select count(*) from bad, t.answer(:s, :'r', :f, 'step', bad.name, '1', null, 1) a where a <> 'refused'), 0::bigint, 'by commit');
select is((select count(*) from bad, t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', bad.name, 'payload', '1')), true) a where a <> 'refused'), 0::bigint, 'by commit_each');
select is((select json_array_length(steps) from pawl.get_run(:'r')), 0, 'nothing is recorded');
select is(t.answer(:s, :'r', :f, 'step', repeat('x', 100) || '#999999999', '1', null, 1), 'ok', 'a name of 100 characters');
select is(t.answer(:s, :'r', :f, 'step', 'left/a_b.c-9/deep#2', '1', null, 2), 'ok', 'branches in branches');

select * from finish();
