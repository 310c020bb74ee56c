-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create temporary table p as select * from (values
    ('a megabyte', to_json(repeat('x', 1048574)), true), ('a byte more', to_json(repeat('x', 1048575)), false),
    ('64 deep', (repeat('[', 64) || repeat(']', 64))::json, true), ('65 deep', (repeat('[', 65) || repeat(']', 65))::json, false),
    ('64 deep in objects', (repeat('{"a":', 64) || '1' || repeat('}', 64))::json, true), ('65 deep in objects', (repeat('{"a":', 65) || '1' || repeat('}', 65))::json, false),
    ('10,000 keys', (select json_object_agg('k' || g, 1) from generate_series(1, 10000) g), true), ('10,001 keys', (select json_object_agg('k' || g, 1) from generate_series(1, 10001) g), false),
    ('brackets in a string', to_json(repeat('[{', 1000)), true), ('an escaped quote before brackets', to_json('"' || repeat('[', 1000)), true)) v (what, payload, good);
create function try(call text, x json) returns boolean language plpgsql as $$
declare v text;
begin
    execute call into v using x;
    return coalesce(v, 'ok') <> 'refused';
exception when sqlstate 'PW009' or sqlstate 'PW003' then
    return false;
end $$;
select is(try('select created::text from pawl.trigger(''test.flow'', $1)', payload), good, 'trigger input: ' || what) from p;
select is(try('select created::text from pawl.trigger(''test.flow'', metadata => $1)', payload), good, 'trigger metadata: ' || what) from p;
select is(try('select max(created::text) from pawl.trigger_many(''test.flow'', array[''1'', $1]::json[])', payload), good, 'trigger_many: ' || what) from p;
select is(try('select answer from pawl.emit(''x'', $1)', payload), good, 'emit: ' || what) from p;
select is(try(format('select pawl.signal(%L, ''x'', $1)', :'r'), payload), good, 'signal: ' || what) from p;
select is(try(format('select answer from pawl.step(%s, %L, %s, ''a'' || md5($1::text), $1)', :s, :'r', :f), payload), good, 'step: ' || what) from p;
select is(try(format('select answer from pawl.commit(%s, array[%L::uuid], array[%s], array[''step''], array[''b'' || md5($1::text) || ''#1''], array[$1::text])', :s, :'r', :f), payload), good, 'commit: ' || what) from p;
select is(try(format('select pawl.record_step(pawl.step_token(%s, %L, %s, ''c'' || md5($1::text)), $1)', :s, :'r', :f), payload), good, 'record_step: ' || what) from p;
select * from finish();
