-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w') \g /dev/null
select 'a_' || current_database() as a \gset
create role :a login;
select pawl.grant_role(:'a', 'worker', 'a'), pawl.grant_role(:'a', 'operator', 'a'), pawl.grant_role(:'a', 'reader', 'a') \g /dev/null
select pawl.create_schedule('s', 'w', every => '1 min', tenant => x) from unnest(array['a', 'b', '']) x \g /dev/null
set role :a;
select pawl.create_schedule('own', 'w', every => '1 min') as made \gset
select (select count(*) from pawl.list_schedules()) as n, (select count(*) from pawl.list_schedules(only_tenant => 'b')) as m \gset
reset role;
select is(:'made' || ' ' || :n || ' ' || :m, 'created 2 0', 'an operator of a tenant has schedules in it, and sees no others');
select is((select tenant from pawl.list_schedules('own')), 'a', 'they are its tenant''s');
select pawl.test_clock_advance('61 s') \g /dev/null
set role :a;
call pawl.tick(true);
reset role;
select is((select string_agg(tenant || ' ' || (input -> 'scheduled' ->> 'by'), ', ' order by input -> 'scheduled' ->> 'by') from pawl_data.task), 'a own, a s', 'its worker fires what is its own');
call pawl.tick(true);
select is((select string_agg(tenant || ' ' || (input -> 'scheduled' ->> 'by'), ', ' order by tenant, input -> 'scheduled' ->> 'by') from pawl_data.task), ' s, a own, a s, b s', 'one that is not bound fires all');
-- What a tenant's operator may have.
set role :a;
select throws_ok($$select pawl.create_schedule('fast', 'w', every => '59 s')$$, 'PW007', null, 'not for less than a minute');
select throws_ok($$select pawl.create_schedule('other', 'w', every => '1 min', tenant => 'b')$$, 'PW001', null, 'not in another tenant');
select count(pawl.create_schedule('n' || n, 'w', every => '1 day')) from generate_series(1, 998) n \g /dev/null
select throws_ok($$select pawl.create_schedule('more', 'w', every => '1 day')$$, 'PW007', null, 'not more than a thousand');
reset role;
select is(pawl.create_schedule('more', 'w', every => '1 s', tenant => 'a'), 'created', 'another operator may');
drop owned by :a;
drop role :a;
select * from finish();
