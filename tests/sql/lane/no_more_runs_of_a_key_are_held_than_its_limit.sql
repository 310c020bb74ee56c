-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select t.limited('test.flow', 2) \g /dev/null
select t.session() as s \gset
do $$
begin
    for i in 1..5 loop
        perform pawl.trigger('test.flow', json_build_object('n', i), limit_key => 'a');
        perform pawl.test_clock_advance('1 ms');
    end loop;
end
$$;
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[5]), limit_keys => '{b,b,b,c,null}') \gset
select is((select count(*) from pawl_data.task where place = 'l'), 10::bigint, 'new runs wait in their lanes');
create temp table held as select run_id, fence, input from pawl.claim(:s, 100);
select is((select string_agg(format('%s=%s', k, n), ' ' order by k)
           from (select coalesce(t.limit_key, '-') as k, count(*) as n from held join pawl_data.task t using (run_id) group by 1) c),
    '-=1 a=2 b=2 c=1', 'two of each key, and one where there is one');
select is((select string_agg(input ->> 'n', ' ' order by input ->> 'n') from held where input ->> 'n' is not null), '1 2', 'the oldest first');
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'nothing more while they are held');
select is(t.lane_faults(), 'none', 'lanes fit');
select is((select ready from pawl.list_queues()), 4::bigint, 'the others are counted as ready');
select is((select count(*) from pawl.complete(:s, (select run_id from held where input ->> 'n' = '2'), 1)), 1::bigint, 'one of them ends');
select is((select string_agg(input ->> 'n', ' ') from pawl.claim(:s, 100)), '3', 'and one comes after it');
select is((select count(*) from pawl.commit(:s, (select array_agg(run_id) from held where input ->> 'n' is distinct from '2'), array_fill(1, array[5]), array_fill('complete'::text, array[5]), payloads => array_fill('1'::text, array[5])) where answer = 'ok'), 5::bigint,
    'many end at once');
select is((select count(*) from pawl.claim(:s, 100)), 2::bigint, 'and as many come as there are');
select is((select t.work(:s)), 0, 'nothing more');
select is(t.lane_faults(), 'none', 'lanes fit afterwards');
select * from finish();
