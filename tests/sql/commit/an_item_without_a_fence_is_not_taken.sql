-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', null, 'step', 'a#1', '1', null, 1), 'lease_lost', 'a step without a fence');
select is(t.answer(:s, :'r', null, 'complete', null, '1'), 'lease_lost', 'an end without a fence');
select throws_ok(format('select * from pawl.commit(%s, array[%L::uuid], null, array[''complete''])', :s, :'r'), 'PW003', null,
    'no list of fences at all');
select throws_ok(format('select * from pawl.commit_each(%s, array[%L::uuid], array[1], null)', :s, :'r'), 'PW003', null,
    'no list of kinds at all');
select is(t.state(:'r'), 'RUNNING', 'nothing has happened to the run');

select * from finish();
