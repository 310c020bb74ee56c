-- SPDX-License-Identifier: Apache-2.0
-- Each pair is answered as if its items were committed one by one.
select plan(15);
select t.session() as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select count(*) as n from pawl.trigger_many('test.flow', array_fill('{}'::json, array[9])) \gset
create temporary table held as select row_number() over (order by c.run_id) as n, c.run_id, c.fence from pawl.claim(:s, 9) c;
-- [run, kind, name, option, fence]
create function pg_temp.sent(session bigint, items json) returns text language sql as $$
    select string_agg(c.answer || coalesce(' ' || (c.value ->> 'state'), ''), ', ' order by c.item)
    from (
        select array_agg(h.run_id order by i.n) as runs, array_agg(h.fence + coalesce((i.item ->> 4)::int, 0) order by i.n) as fences,
               array_agg(i.item ->> 1 order by i.n) as kinds, array_agg(i.item ->> 2 order by i.n) as names,
               array_agg(i.item ->> 3 order by i.n) as options, array_agg(case when i.item ->> 1 <> 'suspend' then 7 end order by i.n) as seqs,
               array_agg(case when i.item ->> 1 = 'step' then '1' end order by i.n) as payloads
        from json_array_elements(items) with ordinality i (item, n)
        join held h on h.n = (i.item ->> 0)::int
    ) a,
    pawl.commit(session, a.runs, a.fences, a.kinds, a.names, a.payloads, a.seqs, options => a.options) c
$$;
select is(pg_temp.sent(:s, '[[1, "event", "a#1", "{\"topic\": \"t\"}"], [2, "event", "a#1", "{\"topic\": \"t\", \"timeout_ms\": 5000}"], [1, "suspend"], [2, "suspend"]]'),
    'ok PAUSED, ok PAUSED, ok, ok', 'two plain pairs');
select results_eq('select k.place::text, k.due_at, k.reason, k.attached, k.recorded, k.session_id from pawl_data.task k join held h using (run_id) where h.n < 3 order by h.n',
    $$values ('w', 'infinity'::timestamptz, 'event', true, true, null::bigint), ('w', pawl.now() + interval '5 s', 'event', true, true, null)$$, 'their tasks wait');
select results_eq('select w.name, w.kind::text, w.seq, w.topic, w.key, w.digest, w.match::text, w.created_at, w.due_at from pawl_data.wait w join held h using (run_id) order by h.n',
    $$values ('a#1', 'e', 7, 't', '', sha256(''), null, pawl.now(), 'infinity'::timestamptz), ('a#1', 'e', 7, 't', '', sha256(''), null, pawl.now(), pawl.now() + interval '5 s')$$, 'and their waits are open');
select is(pg_temp.sent(:s, '[[1, "event", "a#1", "{\"topic\": \"t\"}"], [1, "suspend"]]'), 'already PAUSED, already', 'sent again, it is there');
select is(pg_temp.sent(:s, '[[3, "event", "a#1", "{\"topic\": \"t\"}", 1], [3, "suspend", null, null, 1]]'), 'lease_lost, lease_lost', 'another fence');
select is(pg_temp.sent(:s, '[[3, "step", "s#1"], [3, "event", "a#1", "{\"topic\": \"t\"}"], [3, "suspend"]]'), 'ok, ok PAUSED, ok', 'a step before it');
select is((select answer from pawl.cancel((select array_agg(h.run_id) from held h where h.n = 4))), 'ok', 'a run is cancelled');
select is(pg_temp.sent(:s, '[[4, "event", "a#1", "{\"topic\": \"t\"}"], [4, "suspend"]]'), 'cancelled, cancelled', 'it waits for nothing');
select is(pg_temp.sent(:s, '[[5, "event", "a#1", "{\"topic\": \"t\", \"timeout_ms\": 1000}"]]'), 'ok PAUSED', 'a wait without a suspend');
select is(pg_temp.sent(:s, '[[5, "event", "b#1", "{\"topic\": \"t\"}"], [5, "suspend"]]'), 'ok PAUSED, ok', 'and another with one');
select is((select k.due_at from pawl_data.task k join held h using (run_id) where h.n = 5), pawl.now() + interval '1 s', 'the first of them is due');
select pawl.emit('go') \g /dev/null
select is(pg_temp.sent(:s, '[[6, "event", "a#1", "{\"topic\": \"go\"}"], [6, "suspend"]]'), 'ok SUCCESS, refused', 'its event is there');
select is(pg_temp.sent(:s, '[[6, "event", "a#1", "{\"topic\": \"none\"}"], [6, "suspend"]]'), 'already SUCCESS, refused', 'it is recorded');
select is(pg_temp.sent(:s, '[[7, "event", "a#1", "{\"topic\": \"\"}"], [7, "suspend"]]'), 'refused, busy', 'no topic');
select pawl.raise_epoch('test') \g /dev/null
select is(pg_temp.sent(:s, '[[8, "event", "a#1", "{\"topic\": \"t\"}"], [8, "suspend"]]'), 'lease_lost, lease_lost', 'an older epoch');
select * from finish();
