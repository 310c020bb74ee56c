-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select t.limited('test.flow', 1) \g /dev/null
select t.session() as s \gset
select t.session() as b \gset
update pawl_data.worker set tenant = 'b' where session_id = :b;
select t.session() as e \gset
update pawl_data.worker set tenant = '' where session_id = :e;
select count(*) from unnest('{a,b,null}'::text[]) t, generate_series(1, 2) i, lateral pawl.trigger('test.flow', to_json(i), tenant => coalesce(t, ''), limit_key => 'k') \gset
select is((select array_agg(distinct tenant) from pawl.claim(:b, 10)), '{b}', 'a bound worker gets its own');
select is((select array_agg(distinct tenant) from pawl_data.lane), '{b}', 'it has made no other lane');
select is((select count(*) from pawl.claim(:b, 10)), 0::bigint, 'and within the limit');
select is((select array_agg(distinct tenant) from pawl.claim(:e, 10)), '{""}', 'as one of the tenant without a name');
select is((select string_agg(tenant, ' ') from pawl.claim(:s, 10)), 'a', 'the limit of one tenant is not used up by another');
-- In the rotation, with room.
select pawl.alter_workflow('test.flow', '{"key_limit": 5}') \g /dev/null
select count(*) from unnest('{a,b,null}'::text[]) t, generate_series(1, 3) i, lateral pawl.trigger('test.flow', to_json(i), tenant => coalesce(t, ''), limit_key => 'k') \gset
-- Lanes of others are first in the rotation.
update pawl_data.lane set state = 'r', turn = 0 where tenant = 'a';
select is((select array_agg(tenant) from generate_series(1, 3) i, lateral pawl.claim(:b, least(i, 1))), '{b,b,b}', 'turn by turn');
select is((select array_agg(tenant) from generate_series(1, 3) i, lateral pawl.claim(:e, least(i, 1))), '{"","",""}', 'and the other');
select 'lt_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', 'reader', 'b') \g /dev/null
set session authorization :"bound";
select is((select ready from pawl.list_queues()), 1::bigint, 'who is bound is told how many wait of its tenant');
select is((select array_agg(distinct tenant) from pawl.list_lanes('test.flow')), '{b}', 'and sees lanes of its tenant');
select is((select array_agg(distinct tenant) from pawl.list_lanes('test.flow', only_key => 'k', only_tenant => 'a')), '{b}', 'whatever it asks for');
reset session authorization;
select is((select ready from pawl.list_queues()), 6::bigint, 'others of all');
drop owned by :"bound";
drop role :"bound";
select is((select array_agg(distinct tenant order by tenant) from pawl.claim(:s, 100)), '{"",a,b}', 'a worker of everybody gets the rest');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
