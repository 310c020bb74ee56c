-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select is((select string_agg(distinct pawl.create_workflow(n), ' ') from unnest('{a,a.b,content.thumbnail.v1,a_b-c.9,0}'::text[] || repeat('x', 200)) n), 'created', 'good names');
create function pg_temp.try(n text) returns text language plpgsql as $$ begin return pawl.create_workflow(n); exception when sqlstate 'PW003' then return 'PW003'; end $$;
select is((select string_agg(distinct pg_temp.try(n), ' ') from unnest(array['', '.', 'a.', '.a', 'a..b', 'A', 'a b', 'ä', 'a/b', 'a*', 'a#', null, repeat('x', 201), E'a\n', 'a:b', ' a']) n), 'PW003', 'bad names');

select * from finish();
