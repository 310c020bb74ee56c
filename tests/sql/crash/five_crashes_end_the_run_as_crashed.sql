-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session(lease => '1 day') as keeper \gset
select t.run() as r \gset
create function pg_temp.crash() returns text language plpgsql as $$
begin
    perform pawl.claim(t.session(lease => '1 s'), quiet => true);
    perform t.later('2 s');
    return (select t.state(g.run_id) from pawl.list_runs() g);
end $$;
select is((select string_agg(pg_temp.crash(), ' ' order by n) from generate_series(1, 4) n), 'QUEUED QUEUED QUEUED QUEUED', 'four times it is tried again');
select is(pg_temp.crash(), 'ERROR', 'the fifth ends it');
select is((select error ->> 'code' from pawl.result(:'r')), 'crashed', 'with the code crashed');
select is(t.audit(:'r'), 'lease_lost lease_lost lease_lost lease_lost lease_lost', 'each is in the audit');

select * from finish();
