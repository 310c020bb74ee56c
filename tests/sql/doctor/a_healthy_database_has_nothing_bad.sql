-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select is((select string_agg(what, ', ' order by what) from pawl.doctor() where level = 'ok' or what = 'workers'), 'replication, schema, server, workers', 'the facts are told');
select is((select string_agg(what || ': ' || found, '; ') from pawl.doctor() where level = 'error' and what not in ('fsync')), null, 'nothing is bad but what a throwaway cluster is');
select is((select count(*) from pawl.doctor() where level <> 'ok' and cure is null), 0::bigint, 'every finding has its cure');
select * from finish();
