-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.session() as s \gset
select t.session() as other \gset
select run_id as r, fence as f from t.held(:s) \gset
create temp table bad as select * from (values ('{}'), ('"x"'), ('[1]'), ('[{"run": "no uuid", "timeout_ms": 1}]'), ('[{"run": null, "timeout_ms": "x"}]'),
    ('[{"timeout_ms": 1e300}]'), ('[{"timeout_ms": 5, "started_ms": "NaN"}]'), ('[{"timeout_ms": 5, "task": 99999999999}]'), ('[[[]]]')) v (running);
create function pg_temp.beat(s bigint, running text) returns text language plpgsql as $$
begin
    perform pawl.heartbeat(s, running::json);
    return 'taken';
exception when others then
    return sqlstate;
end $$;
select is((select string_agg(distinct pg_temp.beat(:s, running), ' ') from bad), 'PW003', 'each is refused');
select is((select string_agg(distinct pg_temp.beat(:s, format('[{"run": "%s", "timeout_ms": 1, "step": %s}]', :'r', v)), ' ')
           from (values ('[]'), ('{}'), ('[[]]'), (repeat('[', 100) || repeat(']', 100)), (to_json(repeat('x', 241))::text)) v (v)), 'PW003', 'a step is a short text');
select is(pg_temp.beat(:s, format('[{"run": "%s", "more": [1]}]', :'r')), 'PW003', 'and nothing else is nested either');
select is(pg_temp.beat(:s, format('[{"run": "%s", "step": "a#1", "started_ms": 1500, "timeout_ms": 60000}]', :'r')), 'taken', 'a good one is taken');
select is(pg_temp.beat(:s, '[]'), 'taken', 'an empty one too');
select lives_ok(format('select t.later(''1 s'', %s)', :other), 'housekeeping goes on');
select throws_ok(format('select pawl.heartbeat(%s, to_json(repeat(''x'', 70000)))', :s), 'PW009', null, 'too long');

select * from finish();
