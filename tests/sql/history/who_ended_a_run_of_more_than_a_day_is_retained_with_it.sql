-- SPDX-License-Identifier: Apache-2.0
-- The end of such a run moves what is recorded of it out of the partition of its day, which is emptied first.
select plan(4);

select t.session() as s \gset
select t.run() as a \gset
select t.run() as b \gset
select t.later('5 days') \g /dev/null
select answer from pawl.cancel(array[:'a']::uuid[], 'too late', by => 'ann') \g /dev/null
select answer from pawl.kill(array[:'b']::uuid[], 'far too late', by => 'bob') \g /dev/null
select is((select count(*) from pawl_data.audit where run_id in (:'a', :'b')), 0::bigint, 'nothing of them is left in the partition of their day');
select t.later('12 days') \g /dev/null
select t.later('1 min') from generate_series(1, 40) \g /dev/null
do $$ begin for i in 1..10 loop call pawl.tick(true); end loop; end $$;
select is((select min(to_date(right(c.relname, 8), 'YYYYMMDD')) > (select min(triggered_at)::date from pawl_data.run_kept)
           from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'pawl_data.audit'::regclass), true, 'their day is gone, and they are not past their time');
select is((select who || ' ' || (detail ->> 'why') from pawl.history(:'a') where what = 'cancel'), 'ann too late', 'who cancelled it, and why');
select is((select who || ' ' || (detail ->> 'why') from pawl.history(:'b') where what = 'kill'), 'bob far too late', 'and who killed the other');

select * from finish();
