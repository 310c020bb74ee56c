-- SPDX-License-Identifier: Apache-2.0
select plan(14);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null

select pawl.make_id() as id \gset
select is((select created from pawl.trigger('a.flow', key => 'k', id => :'id', key_while_active => true)), true, 'the first');
select is((select created from pawl.trigger('a.flow', key => 'k', id => :'id', key_while_active => true)), false, 'sent again while it waits');
select is((select run_id from pawl.trigger('a.flow', key => 'k', key_while_active => true)), :'id'::uuid, 'the key is taken still');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'id', :f, 'complete', null, '1'), 'ok', 'it ends');
select is((select (run_id, created) from pawl.trigger('a.flow', key => 'k', id => :'id', key_while_active => true)),
    (:'id'::uuid, false), 'sent again after its end: the same run');
select is((select count(*) from pawl_data.key), 0::bigint, 'the key is free');
select is((select created from pawl.trigger('a.flow', '{"other": 1}', key => 'k', key_while_active => true)), true, 'for another run');

-- Many at once, in which one is new.
select pawl.make_id() as a, pawl.make_id() as b \gset
select pawl.trigger_many('a.flow', array['1'::json], array['ka'], ids => array[:'a'::uuid], key_while_active => true) \g /dev/null
select pawl.cancel(array[:'a'::uuid]) \g /dev/null
select results_eq($$select run_id, created from pawl.trigger_many('a.flow', array['1', '2']::json[], array['ka', 'kb'],
        ids => array['$$ || :'a' || $$', '$$ || :'b' || $$']::uuid[], key_while_active => true) order by item$$,
    $$values ('$$ || :'a' || $$'::uuid, false), ('$$ || :'b' || $$', true)$$, 'many, sent again with one that is new');
select is((select array_agg(k.key order by k.key) from pawl_data.key k where k.key like 'k_'), array['kb'], 'only the new one has its key');

-- A key with a time of its own is not taken for longer by a repetition, whether it was removed or not.
select pawl.make_id() as c \gset
select pawl.trigger('a.flow', key => 'kc', id => :'c', key_ttl => '1 min') \g /dev/null
select pawl.test_clock_advance('30 s') \g /dev/null
select is((select created from pawl.trigger('a.flow', key => 'kc', id => :'c', key_ttl => '1 min')), false, 'sent again before its time is over');
select pawl.test_clock_advance('30 s') \g /dev/null
select is((select run_id from pawl.trigger('a.flow', key => 'kc', id => :'c', key_ttl => '1 min')), :'c'::uuid, 'sent again after it');
select is((select created from pawl.trigger('a.flow', '{"other": 1}', key => 'kc', key_ttl => '1 min')), true, 'the key is free');
delete from pawl_data.key k where k.key = 'kc';
select is((select run_id from pawl.trigger('a.flow', key => 'kc', id => :'c', key_ttl => '1 min')), :'c'::uuid, 'sent again when the key was removed');
select is((select count(*) from pawl_data.key k where k.key = 'kc'), 0::bigint, 'it is free as well');

select * from finish();
