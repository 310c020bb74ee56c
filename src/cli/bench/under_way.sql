-- SPDX-License-Identifier: Apache-2.0
-- Only one bench at a time. Processes of the server itself have no role. Between two parts of a bench there may be a moment without
-- sessions. So the database is left over only if it has had no session for about three seconds.
do $$
begin
    for i in 1..30 loop
        exit when not exists (select from pg_catalog.pg_database d where d.datname = 'pawl_bench_scratch');
        if exists (
            select from pg_catalog.pg_stat_activity a
            where a.datname = 'pawl_bench_scratch' and a.usesysid is not null)
        then
            raise exception 'another bench is measuring this server'
            using errcode = 'PW007',
                hint = 'Retry in a minute. If that bench was killed: pawl bench --clean';
        end if;
        perform pg_catalog.pg_sleep(0.1), pg_catalog.pg_stat_clear_snapshot();
    end loop;
end
$$;
