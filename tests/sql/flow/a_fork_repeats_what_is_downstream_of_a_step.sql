-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select t.flow('f.flow', '[["a"], ["b", "a"], ["c", "a"], ["d", "b", "c"]]');
select run_id as r from pawl.trigger('f.flow', '5') \gset
select t.work(:s) \gset
select is(t.state(:'r'), 'SUCCESS', 'a run that has ended');
select run_id as f, answer as a, copied as n from pawl.fork(:'r', 'b') \gset
select is(:'a' || ' ' || :n, 'ok 2', 'a and c are copied');
select is((select string_agg(workflow || ' ' || input::jsonb, ', ') from pawl.claim(:s, 10)), 'f.flow/b {"a": "a", "run": 5}', 'b is done again');
select t.done(:s, :'f', 'b', '"B"') as c \gset
select is((select input::jsonb - 'run' from pawl.claim(:s, 10)), '{"b": "B", "c": "c"}', 'and what follows from it');
select t.done(:s, :'f', 'd', '1') as c \gset
select is(t.state(:'f'), 'SUCCESS', 'done');
select is((select answer from pawl.fork(:'r', 'nothing')), 'no_such_step', 'no such step');
select * from finish();
