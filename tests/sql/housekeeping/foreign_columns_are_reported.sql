-- SPDX-License-Identifier: Apache-2.0
-- A migration tool that adds a column to the engine's tables breaks calls that write or read whole rows.
select plan(4);
select is((select string_agg(format('        (%L, %L)', c.relname, a.columns), e',\n' order by c.relname)
           from pg_class c
           cross join lateral (select string_agg(a.attname, ' ' order by a.attname) as columns from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) a
           where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname not like '%\_kept' and c.relname <> 'test_clock'),
          (select string_agg(format('        (%L, %L)', c.name, array_to_string(c.columns, ' ')), e',\n' order by c.name) from pawl._columns() c),
          'the engine''s own list of columns is that of its tables; if not, paste what it has into _columns()');
select is((select count(*) from pawl.doctor() where what = 'columns'), 0::bigint, 'none is foreign');
alter table pawl_data.event add column audited_by text;
alter table pawl_data.run_kept add column audited_by text;
select is((select string_agg(cure, '; ' order by cure) from pawl.doctor() where what = 'columns' and level = 'error'), 'alter table pawl_data.event drop column audited_by; alter table pawl_data.run_kept drop column audited_by', 'doctor reports each once, with its cure');
alter table pawl_data.event drop column audited_by;
alter table pawl_data.run_kept drop column audited_by;
select is((select count(*) from pawl.doctor() where what = 'columns'), 0::bigint, 'which helps');
select * from finish();
