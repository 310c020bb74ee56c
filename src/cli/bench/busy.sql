-- SPDX-License-Identifier: Apache-2.0
-- Each transaction that writes takes a transaction id of the whole server, and every role may read the newest id.
do $$
declare
    v_before bigint := pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint;
    v_taken bigint;
begin
    perform pg_catalog.pg_sleep(1);
    v_taken := pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint - v_before;
    if v_taken > 20 then
        raise exception 'this server is at work: % transactions have written in the last second', v_taken
        using errcode = 'PW007',
            hint = 'They would be slowed down, and the figures would be too low. If you want that: --busy';
    end if;
end
$$;
