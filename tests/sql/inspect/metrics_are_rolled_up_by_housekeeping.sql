-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow'), pawl.create_workflow('other.flow') \gset
select t.later('1 s', :s);
select is((select concat_ws(' ', succeeded, failed, cancelled) from pawl.metrics('test.flow')), '0 0 0', 'nothing has ended');
do $$
declare v_s bigint := (select max(session_id) from pawl_data.worker); v record;
begin
    for i in 1..6 loop
        perform from pawl.trigger('test.flow', to_json(i));
        perform pawl.test_clock_advance('2 s');
        select * into v from pawl.claim(v_s, 1);
        perform pawl.test_clock_advance('4 s');
        case when i <= 3 then perform from pawl.complete(v_s, v.run_id, v.fence);
             when i <= 5 then perform from pawl.fail(v_s, v.run_id, v.fence, '{}', true);
             else perform from pawl.kill(array[v.run_id]); end case;
    end loop;
end $$;
select is((select concat_ws(' ', succeeded, failed, cancelled) from pawl.metrics('test.flow')), '0 0 0', 'a commit counts nothing');
do $$ begin for i in 1..20 loop perform t.later('15 s', (select max(session_id) from pawl_data.worker)); end loop; end $$;
select is((select concat_ws(' ', succeeded, failed, cancelled, round(mean_seconds), round(max_seconds), round(mean_wait_seconds)) from pawl.metrics('test.flow')), '3 2 1 4 4 2', 'housekeeping does, once: counts, durations, time to start');
select is((select count(*) from pawl.metrics()), 2::bigint, 'a row for each workflow');
select is((select succeeded from pawl.metrics('test.flow', '1 min')), 0::bigint, 'within a time');
select count(*) as n from pawl.trigger('other.flow') \gset
select pawl.test_clock_advance('9 s') \gset
select is((select oldest_ready from pawl.metrics('other.flow')), interval '9 s', 'with the oldest that waits');
select * from finish();
