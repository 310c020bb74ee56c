-- SPDX-License-Identifier: Apache-2.0
select plan(15);
create function pg_temp.apply(schema text, only_check boolean default false) returns text language sql as $$
    select string_agg(concat_ws(' ', change, step, was, becomes), ', ') from pawl.apply_flow(('{"flow": "w.flow", ' || schema || '"steps": [{"step": "a"}]}')::json, only_check) $$;
create function pg_temp.shown(name text default 'w.flow') returns text language sql as $$ select input_schema::text from pawl.get_workflow(name) $$;

select is(pawl.create_flow('v.flow', input_schema => '{"type": "object"}'), 'created', 'a flow with a schema');
select is(pg_temp.shown('v.flow'), '{"type": "object"}', 'it is shown');
select is(pawl.create_flow('v.flow'), 'differs', 'another definition');
select is(pawl.delete_flow('v.flow'), 'ok', 'it goes');
select is((select count(*) from pawl_data.input_schema), 0::bigint, 'and its schema with it');

select is(pg_temp.apply('"input_schema": {"type": "object"}, '), 'add a {"deps" : [], "options" : {}}', 'a definition with a schema');
select is(pg_temp.shown(), '{"type": "object"}', 'is stored');
select is(pg_temp.apply('"input_schema": {"type":"object"}, '), null, 'the same schema is no change');
select is(pg_temp.apply(''), null, 'nor is none');
select is(pg_temp.apply('"input_schema": {"title": "x"}, ', true), 'option {"input_schema" : {"type": "object"}} {"input_schema" : {"title": "x"}}', 'another is');
select is(pg_temp.shown(), '{"type": "object"}', 'a check leaves it');
select is(pg_temp.apply('"input_schema": {"title": "x"}, '), 'option {"input_schema" : {"type": "object"}} {"input_schema" : {"title": "x"}}', 'a call says what it changes');
select is(pg_temp.shown(), '{"title": "x"}', 'and does it');
select is(pg_temp.apply('"input_schema": null, '), 'option {"input_schema" : {"title": "x"}} {"input_schema" : null}', 'null removes it');
select throws_ok($$select pg_temp.apply('"input_schema": [], ', true)$$, 'PW003', 'input_schema must be a JSON object', 'a check refuses what is none');
select * from finish();
