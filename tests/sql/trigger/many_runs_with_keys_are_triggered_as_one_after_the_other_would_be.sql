-- SPDX-License-Identifier: Apache-2.0
select plan(23);
select pawl.test_clock_set('2030-01-01 12:00+00') \gset
select pawl.housekeep() \gset
select pawl.create_workflow('a.flow'), pawl.create_workflow('timed.flow', run_timeout => '1 h') \gset
select run_id as old from pawl.trigger('a.flow', '1', key => 'old') \gset
create function keys() returns text language sql as $$
    select string_agg(concat_ws(' ', k.key, nullif(k.tenant, ''), (select t.input::text from pawl_data.task t where t.run_id = k.run_id)), ', ' order by k.key, k.tenant) from pawl_data.key k
$$;

create temp table made as select * from pawl.trigger_many('a.flow', array['2', '1', '3', '2', '4', '5']::json[], array['b', 'old', 'c', 'b', null, 'a']);
select is((select string_agg(created::text, ' ' order by item) from made), 'true false true false true true', 'each key has one run, the first item''s');
select is((select string_agg(item::text, ' ' order by item) from made where run_id = :'old'), '2', 'a key that stands for a run is answered with it');
select is((select count(distinct run_id) from made where item in (1, 4)), 1::bigint, 'so is one of an earlier item');
select is((select string_agg(t.key || '=' || t.input::text, ' ' order by t.key) from made m join pawl_data.task t using (run_id) where m.created), 'a=5 b=2 c=3', 'each run has the input of its item');
select is((select count(*) from pawl_data.task where key is null), 1::bigint, 'an item without a key has a run without one');
select is(keys(), 'a 5, b 2, c 3, old 1', 'each key stands for its run');
select is((select bool_and(pawl.slot_of(t.run_id) = pawl._key_slot('', 'a.flow', t.key)) from pawl_data.task t where t.key is not null), true, 'the key decides the slot');
select is((select bool_and(substr(run_id::text, 15, 1) = '7' and substr(run_id::text, 20, 1) ~ '[89ab]') from made), true, 'in the layout of ids');

select throws_ok($$select * from pawl.trigger_many('a.flow', array['7', '8']::json[], array['new', 'old'])$$, 'PW004', 'key "old" was used with another input', 'another input is an error, which names the key');
select throws_ok($$select * from pawl.trigger_many('a.flow', array['7', '8']::json[], array['new', 'new'])$$, 'PW004', 'key "new" was used with another input', 'also of an item of the same call');
select is(keys(), 'a 5, b 2, c 3, old 1', 'then nothing was triggered');
select throws_ok($$select * from pawl.trigger_many('a.flow', array['1', '2']::json[], array['x', ''])$$, 'PW003', null, 'a key that is no key refuses the call');
select throws_ok($$select * from pawl.trigger_many('a.flow', array['1', null]::json[], array['x', 'y'])$$, 'PW009', null, 'so does an input that is missing');

select is((select count(*) from pawl.trigger_many('a.flow', array['1']::json[], array['old'], tenant => 'acme') where created), 1::bigint, 'a tenant has keys of its own');
select is((select string_agg(created::text, ' ' order by item) from pawl.trigger_many('a.flow', array['1', '2']::json[], array['t1', 't2'], key_ttl => '1 h')), 'true true', 'keys may have a lifetime');
select pawl.test_clock_advance('2 h') \gset
select is((select string_agg(created::text, ' ' order by item) from pawl.trigger_many('a.flow', array['1', '9', '1', '6', '9']::json[], array['t2', 't1', 'old', 'z', 't1'], key_ttl => '1 h')), 'true true false true false', 'keys whose time is over are taken again, beside others');
select throws_ok($$select * from pawl.trigger_many('a.flow', array['1', '2']::json[], array['t3', 'old'], key_ttl => '1 h')$$, 'PW004', null, 'another input is an error');
select pawl.test_clock_advance('2 h') \gset
select throws_ok($$select * from pawl.trigger_many('a.flow', array['1', '2']::json[], array['t1', 'old'], key_ttl => '1 h')$$, 'PW004', null, 'there, too');

create temp table late as select * from pawl.trigger_many('timed.flow', array['1', to_json(repeat('x', 5000))]::json[], array['l1', 'l2'], delay => '10 min', priority => 7, metadata => '{"m": 1}', key_while_active => true, limit_keys => array['p', 'q']);
select results_eq($$select t.key, t.place::text, t.reason, t.due_at - t.triggered_at, t.priority::int, t.metadata::text, t.attached, t.input_apart, t.limit_key from late join pawl_data.task t using (run_id) order by t.key$$,
    $$values ('l1', 'w', 'delay', interval '10 min', 7, '{"m": 1}', true, false, 'p'), ('l2', 'w', 'delay', interval '10 min', 7, '{"m": 1}', true, true, 'q')$$, 'every option is obeyed');
select is((select string_agg((w.due_at - w.created_at)::text, ' ') from late join pawl_data.wait w using (run_id) where w.name = 'timeout'), '01:10:00 01:10:00', 'each run has its time limit');
select is((select length(g.input::text) from late, pawl.get_run(run_id) g where item = 2), 5002, 'a large input is stored');
select is((select count(*) from pawl_data.key where expires_at = 'infinity'), 2::bigint, 'keys that hold while their runs are active say so');
select is((select count(*) from pawl.trigger_many('a.flow', '{}', '{}')), 0::bigint, 'no items, no runs');
select * from finish();
