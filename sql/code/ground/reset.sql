-- SPDX-License-Identifier: Apache-2.0
-- First file of the code. Functions are replaced in place, so that calls go on meanwhile and public ones keep their grants. Every
-- private one is marked as a leftover by its comment, until the files after this one have made it again; leftovers.sql drops what
-- still is.

do $pawl_reset$
declare
    v_function pg_catalog.regprocedure;
    v_owner pg_catalog.name := (
        select pg_catalog.pg_get_userbyid(n.nspowner) from pg_catalog.pg_namespace n where n.nspname = 'pawl');
begin
    -- Private functions would be another's than the public ones that call them, who may then not call them.
    if v_owner <> current_user then
        raise exception using errcode = '42501',
            message = pg_catalog.format('schema pawl belongs to role "%s", not to "%s"', v_owner, current_user),
            hint = pg_catalog.format('Install as that role: connect as it, or send "set role %s" first.',
                pg_catalog.quote_ident(v_owner));
    end if;
    -- A grant that began during the install would wait for functions that the install has replaced, while it holds this row, for which
    -- the end of the install would wait.
    perform from pawl_data.setting s where s.only_row for update;
    for v_function in
        select p.oid::pg_catalog.regprocedure
        from pg_catalog.pg_proc p
        where p.pronamespace = 'pawl'::pg_catalog.regnamespace and p.proname like '\_%'
    loop
        -- Dynamic because the list comes from the catalog.
        execute pg_catalog.format('comment on function %s is %L', v_function, 'leftover');
    end loop;
end
$pawl_reset$;
