-- SPDX-License-Identifier: Apache-2.0
-- Refuses to touch a database of this name that pawl bench has not made.
do $$
begin
    if exists (
        select from pg_catalog.pg_database d
        where d.datname = 'pawl_bench_scratch'
        and pg_catalog.shobj_description(d.oid, 'pg_database') is distinct from 'made by pawl bench')
    then
        raise exception 'the database "pawl_bench_scratch" does not say that pawl bench has made it'
        using errcode = 'PW007',
            hint = 'Drop it if it is not needed: drop database pawl_bench_scratch';
    end if;
end
$$;
