-- SPDX-License-Identifier: Apache-2.0
-- PostgreSQL adds days and months by the calendar of the session's TimeZone. So a function adds a duration with pawl._shift(), and a constant
-- in hours or less. This finds sums of a column, an argument or a variable of type interval, and of constants with days or more.
select plan(4);
create temp table source as
select p.oid, p.proname::text as name, replace(regexp_replace(p.prosrc, '--[^\n]*', '', 'g'), 'select -', 'select ') as text
from pg_proc p where p.pronamespace = 'pawl'::regnamespace and p.proname not like 'test\_clock%';
create temp table duration as
select a.attname::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace = 'pawl_data'::regnamespace and a.atttypid = 'interval'::regtype
union
select n.name from pg_proc p, unnest(p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[])) n (name, type) where p.pronamespace = 'pawl'::regnamespace and n.type = 'interval'::regtype and n.name <> ''
union
select m[1] from source s, regexp_matches(s.text, '\m(v_[a-z_]+)\s+interval\M', 'g') m;
select cmp_ok((select count(*) from duration), '>', 20::bigint, 'durations are found');
create function t.sums(source text) returns text language sql as $$
    select string_agg(m[1], '; ')
    from regexp_matches(source, '([a-z0-9_)\]'']\s*[-+]\s*(?:coalesce\s*\(\s*)?(?:\(\s*select\s+)?(?:[a-z_]+[.])?(?:' || (select string_agg(name, '|') from duration) || ')\M(?![.])'
                                '|[-+]\s*interval\s*''[^'']*(?:day|week|mon|year|decade|cent|mill)[^'']*'')', 'g') m
$$;
select is(t.sums('v_x := p_now + p_delay; v_y := p_now - (select s.retention from x); v_z := p_now - interval ''1 day''; v_a := pawl._shift(p_now, - p_delay) + interval ''2 hours'''),
    'w + p_delay; w - (select s.retention; - interval ''1 day''', 'the search finds what it should');
select is((select string_agg(s.name || ': ' || t.sums(s.text), e'\n' order by s.name) from source s where t.sums(s.text) is not null
           -- The sum of two durations.
           and s.name <> '_put_tasks'), null, 'no function adds a duration by the calendar');
select is((select count(*) from source s where s.text ~ 'pawl[.]_shift\s*\(') > 10, true, 'functions use _shift');
select * from finish();
