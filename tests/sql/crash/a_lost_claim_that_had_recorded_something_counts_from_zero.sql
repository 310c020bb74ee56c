-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session(lease => '1 day') as keeper \gset
select t.run() as r \gset
create function pg_temp.step_and_crash(n int) returns void language plpgsql as $$
declare
    v_session bigint := t.session(lease => '1 s');
    v_task record;
begin
    select * into v_task from pawl.claim(v_session, quiet => true);
    perform t.answer(v_session, v_task.run_id, v_task.fence, 'step', 'a#' || n, '1', null, n);
    perform t.later('2 s');
end $$;
select pg_temp.step_and_crash(n) from generate_series(1, 7) n \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'seven crashes, each after a new record, do not end it');
select is((select crashes || ' ' || execution from pawl_data.task), '1 7', 'one counts');
select is((select json_array_length(record -> 'steps') from t.one(:keeper)), 7, 'and nothing is lost');

select * from finish();
