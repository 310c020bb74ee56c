-- SPDX-License-Identifier: Apache-2.0
-- The clock stands still, so all fail at the same moment. Their next tries lie in the window that jitter makes, evenly: in twenty equal
-- parts of it as many as chance allows (chi-square with 19 degrees of freedom is above 66 less than once in a million times). One version
-- of the server does all of it; of chance the others know no other.
select plan(5);
select case when current_setting('server_version_num')::int / 10000 = 15 then 10000 else 2000 end as n \gset
select set_config('t.n', :'n', false) \g /dev/null
select pawl.create_workflow('herd', base => '10 s', factor => 2, cap => '15 s', jitter => 0.5, max_attempts => 5) \g /dev/null
select t.session() as s \gset
select count(*) from pawl.trigger_many('herd', (select array_agg('{}'::json) from generate_series(1, :n))) \g /dev/null
create temporary table claimed as select run_id, fence from pawl.claim(:s, 0) limit 0;
do $$
begin
    for i in 1..current_setting('t.n')::int / 500 loop
        insert into claimed select c.run_id, c.fence from pawl.claim((select max(session_id) from pawl_data.worker), 500) c;
    end loop;
end
$$;
select is((select count(*) from claimed), :n::bigint, 'all are claimed');
select is((select count(*) from pawl.commit(:s, (select array_agg(run_id order by run_id) from claimed),
    (select array_agg(fence order by run_id) from claimed), array_fill('fail'::text, array[:n])) where answer = 'ok'), :n::bigint, 'and fail in one call');
create temporary table due as select extract(epoch from k.due_at - pawl.now()) as s from pawl_data.task k join claimed c using (run_id);
select ok((select min(s) >= 5 and max(s) <= 15 from due), 'none before or beyond the window');
select ok((select max(n) <= 3 * :n / 100.0 from (select count(*) as n from due group by floor(s * 10)) x),
    'in no tenth of a second more than three times the mean');
select ok((select sum((n - :n / 20.0) ^ 2 / (:n / 20.0)) < 66 from (
    select g, count(d.s) as n from generate_series(0, 19) g left join due d on least(floor((d.s - 5) * 2), 19) = g group by g) x), 'evenly');
select * from finish();
