-- SPDX-License-Identifier: Apache-2.0
-- A worker that claims ahead and forgets to say that it has started must not make steps run twice.
select plan(3);

select t.session() as s \gset
select t.run() as r \gset
select fence as f from t.one(:s, start => false) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '"once"', null, 1), 'ok', 'a step of a task that has not started');
select is(t.answer(:s, :'r', :f, 'release'), 'ok', 'given back');
select is((select record -> 'steps' -> 0 ->> 'output' from t.one(:s)), 'once', 'the next claim knows the step');

select * from finish();
