-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w') \g /dev/null
select 'a_' || current_database() as a \gset
create role :a login;
select pawl.grant_role(:'a', 'worker', 'a'), pawl.grant_role(:'a', 'operator', 'a') \g /dev/null
create function runs() returns text language sql as $$ select string_agg(t.tenant || ' ' || split_part(t.key, '/', 2) || ' ' || t.input, ', ' order by t.tenant, t.key) from pawl_data.task t $$;
select pawl.create_subscription('s', 't', 'w', tenant => x) from unnest(array['a', 'b', '']) x \g /dev/null
set role :a;
select pawl.create_subscription('own', 't', 'w') as made \gset
select (select count(*) from pawl.list_subscriptions()) as n, (select count(*) from pawl.list_subscriptions(only_tenant => 'b')) as m \gset
reset role;
select is(:'made' || ' ' || :n || ' ' || :m, 'created 2 0', 'an operator of a tenant has subscriptions in it, and sees no others');
select pawl.pause_subscription('s', tenant => x) from unnest(array['a', 'b']) x \g /dev/null
select pawl.emit('t', '1', tenant => x) from unnest(array['b', 'a', '']) x \g /dev/null
set role :a;
call pawl.tick(true);
reset role;
select is(runs(), 'a own 1', 'its worker starts what is its own');
call pawl.tick(true);
select is(runs(), ' s 1, a own 1', 'one that is not bound starts all');
select pawl.resume_subscription('s', tenant => x) from unnest(array['a', 'b']) x \g /dev/null
set role :a;
call pawl.tick(true);
reset role;
select is(runs(), ' s 1, a own 1, a s 1', 'the same holds for what a pause has deferred');
call pawl.tick(true);
select is(runs(), ' s 1, a own 1, a s 1, b s 1', 'and for one that is not bound');
-- What a tenant's operator may have.
set role :a;
select throws_ok($$select pawl.create_subscription('other', 't', 'w', tenant => 'b')$$, 'PW001', null, 'not in another tenant');
select count(pawl.create_subscription('n' || n, 't' || n, 'w')) from generate_series(1, 998) n \g /dev/null
select throws_ok($$select pawl.create_subscription('more', 'more', 'w')$$, 'PW007', null, 'not more than a thousand');
reset role;
select is(pawl.create_subscription('more', 'more', 'w', tenant => 'a'), 'created', 'another operator may');
drop owned by :a;
drop role :a;
select * from finish();
