-- SPDX-License-Identifier: Apache-2.0
select plan(28);
select t.session(lease => '1 day', name => 'walter') as s \gset
select pawl.create_workflow('test.flow'), pawl.create_workflow('test.child') \g /dev/null
select t.flow('graph', '[["one"], ["two", "one"]]') \g /dev/null
select pawl.test_clock_set('2027-04-20 12:00+00') \g /dev/null
create function pg_temp.ended(p_since timestamptz default '2027-04-20 12:00+00') returns text language sql as $$
    select string_agg(concat_ws(' ', workflow, status, round, error_code), ', ' order by workflow, round) from pawl.list_ended(p_since)
$$;
create function pg_temp.steps(p_run uuid) returns text language sql as $$
    select string_agg(concat_ws(' ', l.round, e ->> 'name', e ->> 'kind', e ->> 'state', e ->> 'attempt', (e ->> 'started_at')::timestamptz at time zone 'UTC',
                                (e ->> 'ended_at')::timestamptz at time zone 'UTC', e #>> '{failed_attempts,0,code}', e #>> '{failed_attempts,1,code}'), ', ' order by l.round, n)
    from pawl.list_ended('2027-04-20 12:00+00') l, json_array_elements(l.steps) with ordinality j (e, n) where l.run_id = p_run
$$;
select is(pg_temp.ended(), null, 'nothing has ended');
select run_id as r from pawl.trigger('test.flow', metadata => '{"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "a=b"}') \gset
select fence as f from t.one(:s) \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'retry', 'left/a#1', '{"code": "once"}', '{"policy": {"base_ms": 0, "jitter": 0}}', 1) as a \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'step', 'left/a#1', '"secret"', null, 2) as a \gset
select t.answer(:s, :'r', :f, 'step', 'b#1', '"secret"') as a \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'retry', 'c#1', '{"code": "first"}', '{"policy": {"base_ms": 0, "jitter": 0}}', 1) as a \gset
select t.answer(:s, :'r', :f, 'step_error', 'c#1', '{"code": "last"}', null, 2) as a \gset
select answer as a from pawl.fail(:s, :'r', :f, '{"code": "broken", "message": "no\nmore"}', final => true) \gset
select is(pg_temp.ended(), 'test.flow ERROR 1 broken', 'one has');
select is((select concat_ws(' ', worker, error_line, traceparent, tracestate, triggered_at at time zone 'UTC', started_at at time zone 'UTC', ended_at at time zone 'UTC', tenant = '', parent_id, execution, next_cursor) from pawl.list_ended('2027-04-20 12:00+00')),
    'walter no 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 a=b 2027-04-20 12:00:00 2027-04-20 12:00:00 2027-04-20 12:00:03 t 1', 'with its times and its trace');
select is(pg_temp.steps(:'r'), '1 left/a#1 step SUCCESS 2 2027-04-20 12:00:02 2027-04-20 12:00:02 once, 1 b#1 step SUCCESS 1 2027-04-20 12:00:02 2027-04-20 12:00:02, 1 c#1 step ERROR 2 2027-04-20 12:00:03 2027-04-20 12:00:03 first', 'and its steps');
select is((select l.steps #>> '{0,branch}' from pawl.list_ended('2027-04-20 12:00+00') l), 'left', 'with their branch');
select ok((select to_json(l)::text not like '%secret%' from pawl.list_ended('2027-04-20 12:00+00') l), 'without what they returned');
-- A retry is a round of its own.
select answer as a from pawl.retry(array[:'r'::uuid]) \gset
select fence as f from t.one(:s) \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'retry', 'c#1', '{"code": "again"}', '{"policy": {"base_ms": 0, "jitter": 0}}', 1) as a \gset
select t.answer(:s, :'r', :f, 'step', 'c#1', '1', null, 2) as a \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select answer as a from pawl.complete(:s, :'r', :f) \gset
select is(pg_temp.ended(), 'test.flow ERROR 1 broken, test.flow SUCCESS 2', 'each round of a run is a row');
select is(pg_temp.steps(:'r'), '1 left/a#1 step SUCCESS 2 2027-04-20 12:00:02 2027-04-20 12:00:02 once, 1 b#1 step SUCCESS 1 2027-04-20 12:00:02 2027-04-20 12:00:02, 1 c#1 step ERROR 2 2027-04-20 12:00:03 2027-04-20 12:00:03 first, 2 c#1 step SUCCESS 2 2027-04-20 12:00:04 2027-04-20 12:00:04 again', 'with the steps of that round');
select is((select string_agg(l.round::text, ' ') from pawl.list_ended('2027-04-20 12:00:04+00') l), '2', 'only what ended within the time');
select is((select string_agg(l.round::text, ' ') from pawl.list_ended('2027-04-20 12:00+00', '2027-04-20 12:00:05+00') l), '1', 'the end of which is not part of it');
select is((select string_agg(l.round::text, ' ') from pawl.list_ended('2027-04-20 12:00+00', '2027-04-20 12:00+00') l), null, 'no time');
-- A fork has records of another run.
select run_id as k from pawl.fork(:'r', 'b') \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'k', :f, 'step', 'd#1', '1') as a \gset
select answer as a from pawl.complete(:s, :'k', :f) \gset
select cmp_ok((select count(*) from pawl_data.step s where s.run_id = :'k'), '>', 1::bigint, 'a fork has records of its source');
select is(pg_temp.steps(:'k'), '1 d#1 step SUCCESS 1 2027-04-20 12:00:05 2027-04-20 12:00:05', 'which are not steps of its own');
-- Flows, children.
select run_id as g from pawl.trigger('graph') \gset
select count(*) as n from pawl.claim(:s, 1) \gset
select t.done(:s, :'g', 'one', '1') as a \gset
select is(pg_temp.steps(:'g'), null, 'a flow that has not ended is not listed');
select pawl.cancel(array[:'g'::uuid]) \g /dev/null
select matches(pg_temp.ended(), '^graph CANCELLED 1 cancelled', 'it is when it has');
select matches(pg_temp.steps(:'g'), '^1 one step SUCCESS 1', 'its steps by their names');
select run_id as p, fence as f from t.held(:s) \gset
select t.answer(:s, :'p', :f, 'child', 'x#1', '{}', '{"workflow": "test.child"}') as a \gset
select t.answer(:s, :'p', :f, 'suspend') as a \gset
select run_id as c, fence as cf from t.one(:s) \gset
select answer as a from pawl.complete(:s, :'c', :cf) \gset
select fence as f from t.one(:s) \gset
select answer as a from pawl.complete(:s, :'p', :f) \gset
select is((select l.parent_id from pawl.list_ended('2027-04-20 12:00+00') l where l.run_id = :'c'), :'p'::uuid, 'a child names its parent');
select is((select l.steps #>> '{0,child}' from pawl.list_ended('2027-04-20 12:00+00') l where l.run_id = :'p'), :'c', 'and its parent''s step the child');
-- Tenants.
select run_id as t from pawl.trigger('test.flow', tenant => 'acme') \gset
select fence as f from t.one(:s) \gset
select answer as a from pawl.complete(:s, :'t', :f) \gset
select is((select string_agg(l.run_id::text, ' ') from pawl.list_ended('2027-04-20 12:00+00', only_tenant => 'acme') l), :'t', 'those of a tenant');
-- Pages.
create temporary table page as
    with recursive p as (
        (select l.run_id, l.next_cursor, 1 as n from pawl.list_ended('2027-04-20 12:00+00', max_rows => 2) l)
        union all
        (select l.run_id, l.next_cursor, p.n + 1 from p cross join lateral pawl.list_ended('2027-04-20 12:00+00', cursor => p.next_cursor, max_rows => 2) l where p.next_cursor is not null)
    )
    select * from p;
select is((select array_agg(run_id order by n, run_id) from page where run_id is not null), array(select run_id from pawl.list_ended('2027-04-20 12:00+00')), 'pages have each run once, with all its rounds');
select is((select max(n) from page), 3, 'two runs each');
select is((select count(*) from pawl.list_ended('2027-04-20 12:00+00', max_rows => 0)), 0::bigint, 'none');
-- json accepts \u0000, and PostgreSQL's text cannot hold it.
select pawl.test_clock_set('2027-04-20 13:00+00') \g /dev/null
select run_id as n from pawl.trigger('test.flow', metadata => '{"other": "\u0000", "traceparent": "a\u0000b"}') \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'n', :f, 'retry', 'a#1', '{"code": "c\u0000d"}', '{"policy": {"base_ms": 0, "jitter": 0}}', 1) as a \gset
select t.answer(:s, :'n', :f, 'step', 'a#1', '"\u0000"', null, 2) as a \gset
select answer as a from pawl.fail(:s, :'n', :f, '{"code": "c\u0000d"}', final => true) \gset
create function pg_temp.read() returns text language plpgsql as $$
begin
    return (select concat_ws(' ', error_code, traceparent, steps #>> '{0,failed_attempts,0,code}') from pawl.list_ended('2027-04-20 13:00+00'));
exception when others then
    return sqlerrm;
end $$;
select is(pg_temp.read(), e'c\uFFFDd a\uFFFDb c\uFFFDd', 'list_ended writes a mark for each of these characters');
-- Very many steps.
select pawl.test_clock_set('2027-04-20 14:00+00') \g /dev/null
select count(*) as n from pawl.trigger_many('test.flow', array_fill('{}'::json, array[60])) \g /dev/null
select count(*) as n from (
    select array_agg(run_id) r, array_agg(fence) f, array_fill('complete'::text, array[60]) k, array_fill('1'::text, array[60]) p from pawl.claim(:s, 60)
) d, lateral pawl.commit(:s, d.r, d.f, d.k, null, d.p) \g /dev/null
insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output)
select (select min(run_id::text)::uuid from pawl.list_ended('2027-04-20 14:00+00')), 0, 1, 's', 's', n, 1, 1, pawl.now(), pawl.now(), 's#' || n, '1' from generate_series(1, 100000) n;
select is((select concat_ws(' ', count(run_id), sum(json_array_length(steps)), count(next_cursor)) from pawl.list_ended('2027-04-20 14:00+00')), '50 100000 1', 'a page ends after so many');
select is((select count(*) from pawl.list_ended('2027-04-20 14:00+00', cursor => (select next_cursor from pawl.list_ended('2027-04-20 14:00+00') where next_cursor is not null))), 10::bigint, 'the next one has the others');
select throws_ok('select * from pawl.list_ended(null)', 'PW003', null, 'a time is needed');
select throws_ok('select * from pawl.list_ended(''2027-04-20 12:00+00'', ''2027-04-20 12:01:01+00'')', 'PW003', null, 'of a minute at most');
select throws_ok('select * from pawl.list_ended(''2027-04-20 12:00+00'', ''2027-04-20 11:00+00'')', 'PW003', null, 'not backward');
select * from finish();
