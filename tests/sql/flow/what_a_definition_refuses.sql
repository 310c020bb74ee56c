-- SPDX-License-Identifier: Apache-2.0
select plan(16);
select t.session() as s \gset
select pawl.create_flow('def.flow') as c \gset
select is(pawl.create_flow('def.flow'), 'exists', 'the same again');
select is(pawl.create_flow('def.flow', priority => 7), 'differs', 'with another option');
select is(pawl.add_step('def.flow', 'a'), 'created', 'a step');
select is(pawl.add_step('def.flow', 'a'), 'exists', 'the same again');
select is(pawl.add_step('def.flow', 'a', options => '{"priority": 3}'), 'differs', 'with another option');
select throws_like($$select pawl.add_step('def.flow', 'b', '{nobody}')$$, '%unknown step "nobody"%', 'unknown dependency');
select throws_like($$select pawl.add_step('def.flow', 'b', '{b}')$$, '%depends on itself%', 'a cycle');
select throws_like($$select pawl.add_step('def.flow', 'run')$$, '%cannot be named "run"%', 'a reserved name');
select throws_like($$select pawl.add_step('def.flow', 'B!')$$, '%bad step name%', 'a bad name');
select throws_like($$select pawl.add_step('def.flow', 'b', '{a,a}')$$, '%named twice%', 'a dependency twice');
select throws_like($$select pawl.add_step('def.flow', 'b', options => '{"attempts": 3}')$$, '%unknown option "attempts"%', 'an unknown option');
select throws_like($$select pawl.add_step('def.flow', 'b', options => '{"map": "a"}')$$, '%must be run or one of its dependencies%', 'a map over what it does not depend on');
select throws_like($$select pawl.add_step('no.flow', 'b')$$, '%unknown flow%', 'no such flow');
select throws_like($$select pawl.create_flow('test.flow')$$, '%not a flow%', 'a coded workflow has the name') from (select t.run()) x;
select run_id as r from pawl.trigger('def.flow', '1') \gset
select throws_like($$select pawl.add_step('def.flow', 'b')$$, '%its steps do not change%', 'frozen by its first trigger');
select is(pawl.add_step('def.flow', 'a'), 'exists', 'the same step is no change');
select * from finish();
