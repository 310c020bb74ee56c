-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select t.run(input => '{"n": 1}') as r \gset
select fence as f, record is null as none, input as i from t.one(:s) \gset
select ok(:'none', 'a new run has none');
select is(:'i'::text, '{"n": 1}', 'but its input');
select t.answer(:s, :'r', :f, 'step', 'b#1', '2', null, 2), t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), t.answer(:s, :'r', :f, 'sleep', 'c#1', null, '{"ms": 60000}', 7),
       t.answer(:s, :'r', :f, 'release') \g /dev/null
select record as rec from t.one(:s) \gset
select is(:'rec'::json -> 'steps' -> 0 ->> 'name' || (:'rec'::json -> 'steps' -> 1 ->> 'name'), 'a#1b#1', 'in the order they started');
select is(:'rec'::json -> 'waits' #>> '{}', '[{"name" : "c#1", "kind" : "sleep", "seq" : 7, "child" : null}]', 'and with the open waits, which have a place in it');

select * from finish();
