-- SPDX-License-Identifier: Apache-2.0
select plan(35);
create function pg_temp.shown(name text) returns text language sql as $$ select input_schema::text from pawl.get_workflow(name) $$;
-- A schema of so many bytes.
create function pg_temp.sized(bytes int) returns json language sql as $$ select ('{"title": "' || repeat('x', bytes - 13) || '"}')::json $$;

select is(pawl.create_workflow('a.b', input_schema => '{"type":  "object"}'), 'created', 'with a schema');
select is(pg_temp.shown('a.b'), '{"type":  "object"}', 'it is kept byte by byte');
select is(pawl.create_workflow('a.b', input_schema => '{"type": "object"}'), 'exists', 'the same again');
select is(pawl.create_workflow('a.b', input_schema => '{"type": "array"}'), 'differs', 'another');
select is(pawl.create_workflow('a.b'), 'differs', 'none');
select is(pg_temp.shown('a.b'), '{"type":  "object"}', 'it has stayed as it was');
select created as c from pawl.trigger('a.b', '"no object"') \gset
select is(:'c'::boolean, true, 'no input is compared with it');

select is(pawl.create_workflow('c.d'), 'created', 'without');
select is(pg_temp.shown('c.d'), null, 'there is none');
select is(pawl.create_workflow('c.d', input_schema => '{}'), 'differs', 'an empty one is another than none');
select lives_ok($$select pawl.alter_workflow('c.d', '{"priority": 7}')$$, 'another option');
select is(pg_temp.shown('c.d'), null, 'does not make one');
select lives_ok($$select pawl.alter_workflow('c.d', '{"input_schema": {"title":"x"}}')$$, 'it may be set later');
select is(pg_temp.shown('c.d'), '{"title":"x"}', 'as it is');
select is(pawl.create_workflow('c.d', priority => 7, input_schema => '{"title": "x"}'), 'exists', 'and is compared');
select lives_ok($$select pawl.alter_workflow('c.d', '{"max_attempts": 3}')$$, 'another option again');
select is(pg_temp.shown('c.d'), '{"title":"x"}', 'leaves it');
select lives_ok($$select pawl.alter_workflow('c.d', '{"input_schema": null}')$$, 'null');
select is(pg_temp.shown('c.d'), null, 'removes it');

select lives_ok($$select pawl.alter_workflow('c.d', json_build_object('priority', 8, 'input_schema', pg_temp.sized(65536)))$$, '64 kB');
select is(length(pg_temp.shown('c.d')), 65536, 'are shown');
select is((select detail -> 'options' ->> 'input_schema' from pawl.list_actions() order by action_no desc limit 1), '65536 bytes', 'an action has its size only');
select is((select detail -> 'options' ->> 'priority' from pawl.list_actions() order by action_no desc limit 1), '8', 'and the other options');
select throws_ok($$select pawl.alter_workflow('c.d', json_build_object('input_schema', pg_temp.sized(65537)))$$, 'PW009', 'input_schema has 65537 bytes, the limit is 65536', 'a byte more is refused');
select throws_ok($$select pawl.create_workflow('e.f', input_schema => pg_temp.sized(65537))$$, 'PW009', null, 'also of a new workflow');
select throws_ok($$select pawl.create_workflow('e.f', input_schema => (repeat('{"a":', 65) || '1' || repeat('}', 65))::json)$$, 'PW009', 'input_schema is nested more than 64 deep', 'as is a deep one');
select throws_ok($$select pawl.create_workflow('e.f', input_schema => '[]')$$, 'PW003', 'input_schema must be a JSON object', 'a list');
select throws_ok($$select pawl.create_workflow('e.f', input_schema => '{"title": "\u0000"}')$$, 'PW003', 'input_schema: unsupported Unicode escape sequence', 'what cannot be compared');
select throws_ok($$select pawl.create_workflow('e.f', input_schema => 'null')$$, 'PW003', null, 'the JSON null');
select throws_ok($$select pawl.alter_workflow('c.d', '{"input_schema": "object"}')$$, 'PW003', null, 'a text');
select throws_ok($$select pawl.create_workflow('a.b', input_schema => 'true')$$, 'PW003', null, 'also for a workflow that exists');

select is((select count(*) from pawl.list_workflows() l where to_jsonb(l) ? 'input_schema'), 0::bigint, 'a list has no schemas');
select is((select to_jsonb(w) - 'input_schema' from pawl.get_workflow('a.b') w), (select to_jsonb(l) from pawl.list_workflows('a.b') l), 'one workflow has the columns of the list');
select throws_ok($$select * from pawl.get_workflow('a.*')$$, 'PW002', 'unknown workflow "a.*"', 'a pattern is no name');
select throws_ok($$select * from pawl.get_workflow(null)$$, 'PW002', null, 'nor is nothing');
select * from finish();
