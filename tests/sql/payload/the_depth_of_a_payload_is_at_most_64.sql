-- SPDX-License-Identifier: Apache-2.0
select plan(9);

select pawl.create_workflow('a.flow') \g /dev/null
create function pg_temp.deep(n int) returns text language sql as $$ select repeat('[', n) || repeat(']', n) $$;
create function pg_temp.deep_object(n int) returns text language sql as $$ select repeat('{"a":', n) || '1' || repeat('}', n) $$;
select lives_ok($$select pawl.trigger('a.flow', pg_temp.deep(64)::json)$$, '64 lists');
select throws_ok($$select pawl.trigger('a.flow', pg_temp.deep(65)::json)$$, 'PW009', null, '65 lists');
select lives_ok($$select pawl.trigger('a.flow', pg_temp.deep_object(64)::json)$$, '64 objects');
select throws_ok($$select pawl.trigger('a.flow', pg_temp.deep_object(65)::json)$$, 'PW009', null, '65 objects');
select throws_ok($$select pawl.trigger('a.flow', (repeat('[{"a":', 33) || '1' || repeat('}]', 33))::json)$$, 'PW009', null, '33 of each');
select throws_ok($$select pawl.trigger_many('a.flow', array['1', pg_temp.deep(65)]::json[])$$, 'PW009', null, 'one of many');
select lives_ok($$select pawl.trigger('a.flow', ('[' || repeat('[[]],', 500) || '"[[[[{{{{\"[["]')::json)$$, 'many side by side, and brackets in strings');
select t.session() as s \gset
select pawl.housekeep() \g /dev/null
select run_id as r, fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', pg_temp.deep(64), null, 1), 'ok', 'a step of 64');
select results_eq(format('select answer, reason from t.item(%s, %L, %s, ''step'', ''b#1'', pg_temp.deep(65), null, 1)', :s, :'r', :f), $$values ('refused', 'payload is nested more than 64 deep')$$, 'a step of 65');

select * from finish();
