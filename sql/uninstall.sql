-- SPDX-License-Identifier: Apache-2.0
-- Removes pawl from this database with everything it knows: runs, their history, events and settings. There is no way
-- back but a backup. Run it as the owner of schemas pawl and pawl_data. Objects of yours that use pawl's (a view, a default) go too,
-- because of `cascade`; PostgreSQL lists them as notices. Roles that were granted rights are yours and stay.

-- Schemas that only have these names are refused: pawl's own has functions and no table, and pawl_data has the table of settings.
do $$
begin
    if exists (select from pg_catalog.pg_class c where c.relnamespace = pg_catalog.to_regnamespace('pawl') and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S'))
       or exists (select from pg_catalog.pg_class c where c.relnamespace = pg_catalog.to_regnamespace('pawl_data'))
          and not exists (select from pg_catalog.pg_attribute a
                          join pg_catalog.pg_class c on c.oid = a.attrelid
                          where c.relnamespace = pg_catalog.to_regnamespace('pawl_data') and c.relname = 'setting' and a.attname = 'schema_version') then
        raise exception using errcode = '55000', message = 'schema pawl or pawl_data has tables that are not those of pawl; nothing was removed',
            hint = 'Move them to another schema, or drop them yourself.';
    end if;
end
$$;
drop schema if exists pawl, pawl_data cascade;
