-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select pawl._make_partition(t, (pawl.now() at time zone 'UTC')::date - 60) from unnest(array['run', 'step']) t \g /dev/null
select to_char(pawl.now() at time zone 'UTC' - interval '60 days', 'YYYYMMDD') as day \gset
update pawl_data.chore set position = json_build_array(:'day', null, false, true)::text where chore = 'retention';
select format('create temporary view a as select 1 as x from pawl_data.run_%s', :'day') \gexec
create function pg_temp.take_away() returns text language plpgsql as $$
begin
    return pawl._chore_tables(pawl.now())::text;
exception
    when others then
        return sqlerrm;
end
$$;
select is(pg_temp.take_away(), '00:00:00', 'a table is taken away');
select is(to_regclass('pawl_data.step_' || :'day'), null, 'that on which nothing depends');
select is(pg_temp.take_away(), format('run_%1$s: cannot drop table pawl_data.run_%1$s because other objects depend on it', :'day'), 'the other one is reported');
select * from finish();
