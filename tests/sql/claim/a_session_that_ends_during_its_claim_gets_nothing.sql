-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'sleep', 'nap#1', null, '{"ms": 1000}') \g /dev/null
select t.answer(:s, :'r', :f, 'suspend') \g /dev/null
select t.later('2 s') \g /dev/null

-- Stands for a sweep that comes to its end after the claim has looked at its session.
create function pg_temp.end_session() returns trigger language plpgsql as $$
begin
    update pawl_data.worker set ended_at = pawl.now();
    return old;
end
$$;
create trigger sweep before delete on pawl_data.wait for each row execute function pg_temp.end_session();
select is((select count(*) from pawl.claim(:s)), 0::bigint, 'it is given nothing');
select is(t.state(:'r'), 'QUEUED', 'the run is ready for others');
select t.session() as s \gset
select is((select count(*) from pawl.claim(:s)), 1::bigint, 'who take it');

select * from finish();
