-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session(lease => '1 day') as s \gset
select t.run() as r \gset
create function pg_temp.hang(s bigint, r uuid) returns void language plpgsql as $$
begin
    perform t.one(s, quiet => true);
    perform pawl.heartbeat(s, json_build_array(json_build_object('run', r, 'step', 'slow#1', 'started_ms', 0, 'timeout_ms', 1000)));
    perform t.later('10 s');
end $$;
select pg_temp.hang(:s, :'r') from generate_series(1, 4) \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'four times it is tried again');
select pg_temp.hang(:s, :'r') \g /dev/null
select is((select status || (error ->> 'code') from pawl.result(:'r')), 'ERRORcrashed', 'the fifth ends it');

select * from finish();
