-- SPDX-License-Identifier: Apache-2.0
-- One at a time; processes of the server itself have no role. Between two parts of a bench nobody may be connected for a moment, so
-- that a database without sessions is only left over if it has been so for a while.
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
