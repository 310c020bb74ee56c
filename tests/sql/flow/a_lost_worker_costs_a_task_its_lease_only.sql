-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select t.session(name => 'dead') as d \gset
select t.flow('l.flow', '[["a"], ["b", "a"]]');
select run_id as r from pawl.trigger('l.flow', '5') \gset
select count(*) from pawl.claim(:d, 10) \gset
select t.later('31 s', :s);
select is((select task || ' ' || fence || ' ' || execution from pawl.claim(:s, 10)), '1000000 3 2', 'another takes it');
select is(t.done(:d, :'r', 'a', '1', fence => 1), 'lease_lost', 'the first has no say') from (select 1) x;
select is(t.done(:s, :'r', 'a', '2'), 'ok', 'the second has');
select is(t.done(:s, :'r', 'a', '3', fence => 3), 'already', 'a lost reply');
select is((select input::jsonb ->> 'a' from pawl.claim(:s, 10)), '2', 'recorded once');
select * from finish();
