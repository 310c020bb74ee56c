-- SPDX-License-Identifier: Apache-2.0
-- A claim that returns so much metadata leaves tasks that it has picked; and a session may end during its claim.
select plan(8);
create or replace function pawl._claim_max() returns bigint language sql immutable as 'select 100::bigint';
select t.limited('test.flow', 1) \g /dev/null
select t.session() as s \gset
select count(*) from generate_series(1, 3) i, lateral pawl.trigger('test.flow', limit_key => 'k' || i, metadata => to_json(repeat('x', 90))) \gset
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'one of three');
select is(t.lane_faults(), 'none', 'lanes fit');
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'the second');
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'the third');
select is(t.lane_faults(), 'none', 'lanes fit');
select count(*) from (select run_id, fence from pawl_data.task where place = 'h') h, lateral pawl.complete(:s, run_id, fence) \gset
-- Stands for a sweep that comes to its end after the claim has looked at its session.
select run_id as r from pawl.trigger('test.flow', limit_key => 'last') \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'r', :f, 'sleep', 'nap#1', null, '{"ms": 1000}') \g /dev/null
select t.answer(:s, :'r', :f, 'suspend') \g /dev/null
select t.later('2 s') \g /dev/null
create function pg_temp.end_session() returns trigger language plpgsql as $$
begin
    update pawl_data.worker set ended_at = pawl.now();
    return old;
end
$$;
create trigger sweep before delete on pawl_data.wait for each row execute function pg_temp.end_session();
select is((select count(*) from pawl.claim(:s)), 0::bigint, 'a session that ends during its claim gets nothing');
select is(t.lane_faults(), 'none', 'lanes fit');
select t.session() as s \gset
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'another takes it');
select * from finish();
