-- SPDX-License-Identifier: Apache-2.0
-- calendar_of_python.py computes nominal times with other code, and with Python's time zones. Both read the zone files of the server: its own if it
-- has any, else those of the system.
select * from no_plan();
select setting || '/timezone:/usr/share/zoneinfo' as path from pg_config where name = 'SHAREDIR' \gset
\setenv PYTHONTZPATH :path
create temp table want (zone text, cron text, first date, last date, seconds bigint);
\copy want from program 'python3 "$PAWL_ROOT/tests/sql/schedule/calendar_of_python.py" print' with (format csv, delimiter '|')
create temp table expression as
select w.zone, w.cron, w.first::timestamp at time zone 'UTC' as first, w.last::timestamp at time zone 'UTC' as last, array_agg(w.seconds order by w.seconds) filter (where w.seconds is not null) as times
from want w group by 1, 2, 3, 4;
create temp table have as
select e.zone, e.cron, e.first, e.times as want,
       array(select extract(epoch from c.at)::bigint from pawl._cron_times(e.cron, e.zone, e.first - interval '1 s', e.last - interval '1 s', 1000000) c) as have
from expression e;
select cmp_ok((select count(*) from want), '>', 50000::bigint, 'there is something to compare');
select is((select string_agg(format('%s %s after %s', zone, cron, first), e'\n') from have where coalesce(want, '{}') <> have), null, 'every nominal time is the same');
-- One at a time, as a schedule asks for them.
create function pg_temp.walk(cron text, zone text, first timestamptz, last timestamptz) returns bigint[] language plpgsql as $$
declare
    v_at timestamptz := first - interval '1 s';
    v_all bigint[] := '{}';
begin
    loop
        v_at := (select c.at from pawl._cron_times(cron, zone, v_at, last - interval '1 s', 1) c);
        exit when v_at is null;
        v_all := v_all || extract(epoch from v_at)::bigint;
    end loop;
    return v_all;
end $$;
select is(pg_temp.walk(cron, zone, first, last), coalesce(times, '{}'), format('one by one: %s %s after %s', zone, cron, first))
from expression where zone in ('Europe/Berlin', 'America/Nuuk', 'Australia/Lord_Howe') and cron in ('30 2 * * *', '15 1,2,3 * * *', '20 0,23 * * fri-sun', '5 0-4 * * *') order by zone, cron, first;
select * from finish();
