-- SPDX-License-Identifier: Apache-2.0
-- Last file of the install: functions of another version, which no file has made again (see reset.sql).

do $pawl_leftovers$
declare
    v_function pg_catalog.regprocedure;
begin
    for v_function in
        select p.oid::pg_catalog.regprocedure
        from pg_catalog.pg_proc p
        where p.pronamespace = 'pawl'::pg_catalog.regnamespace
          and pg_catalog.obj_description(p.oid, 'pg_proc') = 'leftover'
    loop
        -- Dynamic because the list comes from the catalog.
        execute pg_catalog.format('drop routine %s', v_function);
    end loop;
end
$pawl_leftovers$;
