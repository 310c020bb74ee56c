-- SPDX-License-Identifier: Apache-2.0
-- Items of several runs, as a worker sends them: each is answered as it would be alone.
select plan(9);
select t.session() as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select count(*) as n from pawl.trigger_many('test.flow', array_fill('{}'::json, array[4])) \gset
create temporary table held as select row_number() over (order by c.run_id) as n, c.run_id, c.fence from pawl.claim(:s, 4) c;
create function pg_temp.sent(items json) returns text language sql as $$
    select string_agg(c.answer || coalesce(' ' || (c.value ->> 'state'), '') || coalesce(' ' || (c.value ->> 'output'), ''), ', ' order by c.item)
    from (
        select array_agg(h.run_id order by i.n) as runs, array_agg(h.fence order by i.n) as fences, array_agg(i.item ->> 1 order by i.n) as kinds,
               array_agg(i.item ->> 2 order by i.n) as names, array_agg(i.item ->> 3 order by i.n) as options
        from json_array_elements(items) with ordinality i (item, n)
        join held h on h.n = (i.item ->> 0)::int
    ) a,
    pawl.commit((select max(w.session_id) from pawl_data.worker w), a.runs, a.fences, a.kinds, a.names, options => a.options) c
$$;
select is((select answer from pawl.emit('go', '1')), 'ok', 'an event');
select pawl.test_clock_advance('1 ms') \g /dev/null
select is((select answer from pawl.emit('go', '2')), 'ok', 'and another');
select is(pg_temp.sent('[[1, "event", "a#1", "{\"topic\": \"go\"}"], [1, "event", "a#1", "{\"topic\": \"go\"}"], [2, "event", "a#1", "{\"topic\": \"go\"}"], [3, "event", "a#1", "{\"topic\": \"none\"}"], [3, "suspend", null, null]]'),
    'ok SUCCESS 1, already SUCCESS 1, ok SUCCESS 1, ok PAUSED, ok', 'a name that is there twice is recorded once');
select is(pg_temp.sent('[[1, "event", "a#1", "{\"topic\": \"go\"}"], [2, "event", "a#2", "{\"topic\": \"go\"}"], [4, "event", "a#1", "{\"topic\": \"go\"}"]]'),
    'already SUCCESS 1, ok SUCCESS 2, ok SUCCESS 1', 'what an earlier call has recorded is found');
select is(pg_temp.sent('[[4, "step", "s#1", null], [4, "event", "s#1", "{\"topic\": \"go\"}"], [2, "event", "a#3", "{\"topic\": \"go\"}"]]'),
    'ok, refused, ok PAUSED', 'a step is no wait');
select is((select count(*) from pawl_data.wait), 2::bigint, 'two wait');
select is((select woken from pawl.emit('go', '3')), 1, 'one is woken, though it is held');
select is((select woken from pawl.emit('none', '3')), 1, 'and the other');
select is((select string_agg(p.name || '=' || p.output, ' ' order by p.run_id, p.seq, p.name) from pawl_data.step p where p.kind = 'e'), 'a#1=1 a#1=1 a#2=2 a#3=3 a#1=3 a#1=1', 'each run took its events in order');
select * from finish();
