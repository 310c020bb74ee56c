-- SPDX-License-Identifier: Apache-2.0
-- The login of a pool that forgets set role is refused: it works in no tenant, above all not in one with the logins of other pools.
select plan(12);
select 'pw_a_' || current_database() as a, 'pw_b_' || current_database() as b, 'pw_c_' || current_database() as c, 'pw_d_' || current_database() as d,
       'pl_ab_' || current_database() as ab, 'pl_cd_' || current_database() as cd \gset
select format('create role %I', r) from unnest(array[:'a', :'b', :'c', :'d']) r \gexec
create role :"ab" login in role :"a", :"b";
create role :"cd" login in role :"c", :"d";
select pawl.create_workflow('test.coded') \g /dev/null
select pawl.grant_role(r::name, s, r) from unnest(array[:'a', :'b', :'c', :'d']) r, unnest(array['producer', 'reader', 'worker', 'operator']) s \g /dev/null
set session authorization :"ab";
select throws_ok($$select * from pawl.trigger('test.coded', '{"card": "secret of a"}')$$, '42501',
    format('role "%s" is bound to more than one tenant: choose one with set role', :'ab'), 'a trigger is refused');
select throws_ok($$select * from pawl.trigger_many('test.coded', array['{}']::json[])$$, '42501', null, 'many are');
select throws_ok($$select * from pawl.emit('topic')$$, '42501', null, 'an event is');
select throws_ok($$select * from pawl.register('worker', '{*}')$$, '42501', null, 'a worker is');
select throws_ok(format('select * from pawl.trigger(%L, tenant => %L)', 'test.coded', :'a'), '42501', null, 'to name a tenant of its own does not help');
set session authorization :"cd";
select throws_ok($$select * from pawl.list_runs()$$, '42501', null, 'nor does another pool''s login find anything');
select throws_ok($$select pawl.pause_workflow('test.coded')$$, '42501', null, 'or act on everybody');
set session authorization :"ab";
set role :"a";
select lives_ok($$select * from pawl.trigger('test.coded', '{"card": "secret of a"}')$$, 'with a choice it works');
select is((select string_agg(tenant, ' ') from pawl.list_runs()), :'a', 'in the tenant that it chose');
set role :"b";
select is((select count(*) from pawl.list_runs()), 0::bigint, 'and another choice finds nothing of the first');
reset session authorization;
select is((select string_agg(distinct tenant, ' ') from pawl_data.task), :'a', 'there is no run in any other tenant');
select is((select count(*) from pawl_data.worker) + (select count(*) from pawl_data.event), 0::bigint, 'no session and no event');
drop owned by :"a", :"b", :"c", :"d", :"ab", :"cd";
drop role :"a", :"b", :"c", :"d", :"ab", :"cd";
select * from finish();
