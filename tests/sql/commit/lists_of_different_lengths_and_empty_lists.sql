-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select is((select count(*) from pawl.commit(:s, '{}', '{}', '{}')), 0::bigint, 'empty lists: nothing to answer');
select is((select count(*) from pawl.commit(:s, null, null, null)), 0::bigint, 'no lists: nothing to answer');
select is((select count(*) from pawl.commit_each(:s, '{}', '{}', '{}')), 0::bigint, 'commit_each as well');
select throws_ok(format('select * from pawl.commit(%s, array[pawl.make_id()], array[1, 2], array[''complete''])', :s), 'PW003', null, 'two fences for one run');
select throws_ok(format('select * from pawl.commit(%s, array[pawl.make_id()], array[1], array[''complete''], names => ''{}'')', :s), 'PW003', null, 'an empty list of names for one run');
select throws_ok(format('select * from pawl.commit(%s, array_fill(pawl.make_id(), array[10001]), array_fill(1, array[10001]), array_fill(''complete''::text, array[10001]))', :s), 'PW009', null, 'too many items');

select * from finish();
