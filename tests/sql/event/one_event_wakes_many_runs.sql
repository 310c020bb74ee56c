-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
create temporary table run as select t.run(input => json_build_object('n', g)) as id from generate_series(1, 300) g;
create temporary table held as select * from pawl.claim(:s, 1000);
create temporary table waits as select c.* from (select array_agg(run_id) as r, array_agg(fence) as f, count(*)::int as n from held) h,
    lateral pawl.commit(:s, h.r || h.r, h.f || h.f, array_fill('event'::text, array[h.n]) || array_fill('suspend'::text, array[h.n]),
        array_fill('w#1'::text, array[h.n]) || array_fill(null::text, array[h.n]),
        options => array_fill('{"topic": "go"}'::text, array[h.n]) || array_fill(null::text, array[h.n])) c;
select is((select count(*) from waits where answer = 'ok'), 600::bigint, '300 runs wait');
select is((select woken from pawl.emit('go', '{"x": 1}')), 300, 'one event wakes them all');
select is((select count(*) from run where t.state(id) = 'QUEUED'), 300::bigint, 'each is queued');
select is((select count(distinct source_id) from pawl_data.step), 1::bigint, 'each record names the event');
select * from finish();
