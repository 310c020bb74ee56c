-- SPDX-License-Identifier: Apache-2.0
-- JSON that the type jsonb cannot hold: \u0000, halves of characters, numbers beyond the range of numeric.
select plan(18);
select t.session() as s \gset
create function t.waits(match json) returns uuid language plpgsql as $$
declare
    r record;
begin
    perform pawl.test_clock_advance('1 s');
    perform pawl.kill(array(select k.run_id from pawl_data.task k where k.place = 'r'));
    select h.* into r from t.held((select max(session_id) from pawl_data.worker)) h;
    if (select answer from pawl.wait_event((select max(session_id) from pawl_data.worker), r.run_id, r.fence, 'w', 'x', match => match)) <> 'ok' then
        raise exception 'no wait';
    end if;
    return r.run_id;
end $$;
-- What a call answers, or its error.
create function t.value_of(call text) returns text language plpgsql as $$
declare
    v_value text;
begin
    execute call into v_value;
    return v_value;
exception
    when others then return sqlerrm;
end $$;
\set odd '{"id": 7, "name": "a\\u0000b", "half": "\\ud800", "huge": 1e999999, "long": 1.0e-99999, "text": "1e999999 \\" 2e999999", "list": [1e1000000, {"n": -5E+0200000}], "fine": 12.50}'
select t.waits('{"/id": 7}') as r \gset
select is(t.value_of(format('select answer || '' '' || woken from pawl.emit(''x'', %L)', :'odd')), 'ok 1', 'a wait for another value of the payload matches');
select is((select output::text from pawl._steps(array[:'r'::uuid]) where kind = 'e'), :'odd', 'and has the payload as it was');
select t.waits('{"/text": "1e999999 \" 2e999999"}') as r \gset
select is((select answer || ' ' || woken from pawl.emit('x', :'odd')), 'ok 1', 'a text that looks like a number matches');
select t.waits('{"/fine": 12.5}') as r \gset
select is((select answer || ' ' || woken from pawl.emit('x', :'odd')), 'ok 1', 'a number next to them matches');
select t.waits('{"/name": "a\ufffdb"}') as r \gset
select is((select answer || ' ' || woken from pawl.emit('x', :'odd')), 'ok 1', 'a character that cannot be read is compared as U+FFFD');
select t.waits('{"/huge": null}') as r \gset
select t.waits('{"/huge": 1}') as r2 \gset
select is((select answer || ' ' || woken from pawl.emit('x', :'odd')), 'ok 0', 'a number that cannot be compared matches nothing');
select t.waits(null) as r3 \gset
select is((select answer || ' ' || woken from pawl.emit('x', :'odd')), 'ok 1', 'a wait without a match takes it');
select is((select answer from pawl.emit('y', :'odd')), 'ok', 'nobody waits');
select count(*) from pawl.kill(array(select k.run_id from pawl_data.task k where k.place = 'r')) \gset
select run_id as r4, fence as f4 from t.held(:s) \gset
select is((select answer from pawl.emit('y', :'odd')), 'ok', 'it is stored');
select matches(t.value_of(format('select value from pawl.wait_event(%s, %L, %s, ''w'', ''y'', match => ''{"/id": 7}'')', :s, :'r4', :f4)), '"state" : "SUCCESS"', 'a later wait finds it');
select is(pawl.signal(:'r4', 'go', :'odd'), 'stored', 'a signal holds it as well');
select matches(t.value_of(format('select value from pawl.wait_signal(%s, %L, %s, ''go'')', :s, :'r4', :f4)), '"state" : "SUCCESS"', 'and the run takes it');
select is((select count(*) from pawl.list_events(only_topic => 'y')), 2::bigint, 'events are listed');
select is(pawl._comparable('{"a": 1e1000}')::text, ('{"a": 1' || repeat('0', 1000) || '}'), 'a large number stays where it can be compared');
select is(pawl._comparable('[1e999999, 1e1000, 1.5, "1e999999", true]')::text, '[[], [], 1.5, "1e999999", true]', 'next to one that cannot it is not compared either');
select is(pawl._comparable(('[' || repeat('9', 140000) || ', 1]')::json)::text, '[[], 1]', 'a number of too many digits');
select is(pawl._comparable('[1e-99999, "\\", "\"", 0e99999]')::text, '[[], "\\", "\"", []]', 'strings with escapes');
select is((select length(pawl._comparable(('[1e999999, ' || string_agg('"x\"1"', ', ') || ']')::json)::text) > 700000 from generate_series(1, 100000)), true, 'a payload of almost a million bytes');
select * from finish();
