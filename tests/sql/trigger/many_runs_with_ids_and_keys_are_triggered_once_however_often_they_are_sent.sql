-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select pawl.create_workflow('a.flow') \gset
create temp table id as select n, pawl.make_id() as id from generate_series(1, 4) n;
create function send(ids uuid[], keys text[] default array['a', 'b', 'c', 'd'], inputs json[] default array['1', '2', '3', '4']::json[]) returns text language sql as $$
    select string_agg(concat_ws(' ', (select i.n from id i where i.id = t.run_id), t.created), ', ' order by item) from pawl.trigger_many('a.flow', inputs, keys, ids => send.ids, key_while_active => true) t
$$;
select array_agg(id order by n) as ids from id \gset
select is(send(:'ids'), '1 t, 2 t, 3 t, 4 t', 'the runs get the ids that were given');
select is(send(:'ids'), '1 f, 2 f, 3 f, 4 f', 'sent again, they are the same');
select count(*) as n from pawl.claim(:s, 4) c join id i on i.id = c.run_id and i.n <= 2, pawl.complete(:s, c.run_id, c.fence) \gset
select is(send(:'ids'), '1 f, 2 f, 3 f, 4 f', 'also when some have ended and freed their keys');
select is((select count(*) from pawl_data.key), 2::bigint, 'whose keys stay free');
select is((select string_agg(created::text, ' ') from pawl.trigger_many('a.flow', array['1']::json[], array['a'], key_while_active => true)), 'true', 'another run takes one of them');
select is(send(:'ids'), '1 f, 2 f, 3 f, 4 f', 'and they are still the same');
select throws_ok(format('select send(%L::uuid[], array[''a'', ''x'', ''c'', ''d''])', :'ids'), 'PW004', null, 'an id with another key is an error');
select throws_ok(format('select send(array[%L, %L, %L, %L]::uuid[])', pawl.make_id(), pawl.make_id(), pawl.make_id(), '00000000-0000-7000-8000-000000000000'), 'PW003', null, 'so is one of another time');
select is((select send(array_agg(pawl.make_id()), array['c', 'd', 'e', 'e'], array['3', '4', '5', '5']::json[]) ~ '^3 f, 4 f, (t, f|f, t)$' from generate_series(1, 4)), true, 'keys that stand for runs go before ids');
select * from finish();
