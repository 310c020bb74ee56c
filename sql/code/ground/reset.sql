-- SPDX-License-Identifier: Apache-2.0
-- First file of the code. Functions are replaced in place, so that calls continue during the install and public functions keep their
-- grants. The comment of every function of pawl marks it as a leftover, until a later file has made it again. leftovers.sql drops the
-- functions that still have the mark: private ones of another version, and public ones whose new version has other arguments. Without
-- this a call that leaves out arguments would fit both signatures, and PostgreSQL would refuse it.

do $pawl_reset$
declare
    v_function pg_catalog.regprocedure;
    v_owner pg_catalog.name := (
        select pg_catalog.pg_get_userbyid(n.nspowner) from pg_catalog.pg_namespace n where n.nspname = 'pawl');
begin
    -- Otherwise private functions would have another owner than the public ones, which then could not call them.
    if v_owner <> current_user then
        raise exception using errcode = '42501',
            message = pg_catalog.format('schema pawl belongs to role "%s", not to "%s"', v_owner, current_user),
            hint = pg_catalog.format('Install as that role: connect as it, or send "set role %s" first.',
                pg_catalog.quote_ident(v_owner));
    end if;
    -- 1. A grant begins during the install: it locks this row, and waits for functions that the install has replaced. 2. The end of the
    -- install waits for the row: a deadlock. So the install locks the row first.
    perform from pawl_data.setting s where s.only_row for update;
    for v_function in
        select p.oid::pg_catalog.regprocedure
        from pg_catalog.pg_proc p
        where p.pronamespace = 'pawl'::pg_catalog.regnamespace
          -- Comments of pawl's public functions have this line. A function that the owner has made in this schema stays.
          and (p.proname like '\_%' or pg_catalog.obj_description(p.oid, 'pg_proc') like E'%\nIf repeated: %')
    loop
        -- Dynamic because the list comes from the catalog.
        execute pg_catalog.format('comment on routine %s is %L', v_function, 'leftover');
    end loop;
end
$pawl_reset$;
