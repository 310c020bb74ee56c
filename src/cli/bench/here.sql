-- SPDX-License-Identifier: Apache-2.0
-- Creates nothing in another database, even if a pooler or a service file maps the name to one.
do $$
begin
    if pg_catalog.current_database() <> 'pawl_bench_scratch' then
        raise exception 'asked for the database "pawl_bench_scratch", and got "%"', pg_catalog.current_database()
        using errcode = 'PW007',
            hint = 'Name the server itself with --database, not a pooler.';
    end if;
end
$$;
