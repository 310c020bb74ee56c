-- SPDX-License-Identifier: Apache-2.0
-- Whatever other workflows end runs in the same minute.
select plan(3);
select t.stop_clock() \g /dev/null
select count(pawl.create_workflow('test.w' || lpad(n::text, 3, '0'))) from generate_series(1, 502) n \g /dev/null
-- As if runs of 498 had ended before.
insert into pawl_data.metric_total (workflow_id, named, succeeded, failed, cancelled, seconds_sum, waited_sum, seconds_buckets, waited_buckets)
select w.workflow_id, true, 1, 0, 0, 1, 1, array_fill(0::bigint, array[15]), array_fill(0::bigint, array[15]) from pawl_data.workflow w where w.name <= 'test.w498';
create function pg_temp.end_of(p_first int, p_last int) returns void language plpgsql as $$
declare
    v_session bigint := t.session();
begin
    perform pawl.trigger('test.w' || lpad(n::text, 3, '0')) from generate_series(p_first, p_last) n;
    perform pawl.complete(v_session, c.run_id, c.fence) from pawl.claim(v_session, 100) c;
    perform pawl._count_ended(date_trunc('minute', pawl.now()), date_trunc('minute', pawl.now()) + interval '1 min');
    perform pawl.test_clock_advance('2 min');
end $$;
select pg_temp.end_of(489, 499) \g /dev/null
select is((select string_agg(w.name || ' ' || m.named, ' ' order by w.name) from pawl_data.metric_total m join pawl_data.workflow w using (workflow_id) where w.name > 'test.w498'),
    'test.w499 true', 'a new one gets a label');
select pg_temp.end_of(489, 501) \g /dev/null
select is((select string_agg(w.name || ' ' || m.named, ' ' order by w.name) from pawl_data.metric_total m join pawl_data.workflow w using (workflow_id) where w.name > 'test.w498'),
    'test.w499 true test.w500 true test.w501 false', 'until there are 500');
select pg_temp.end_of(489, 502) \g /dev/null
select is((select count(*) from pawl_data.metric_total m where m.named), 500::bigint, 'and not more');
select * from finish();
