-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select pawl.create_workflow('a.flow') \g /dev/null
create table orders (n int);
begin;
insert into orders values (1);
select run_id as r from pawl.trigger('a.flow', key => 'order:1') \gset
rollback;
select throws_ok(format('select t.state(%L)', :'r'), 'PW001', null, 'rolled back: there is no run');
select is((select count(*) from pawl_data.key) + (select count(*) from orders), 0::bigint, 'and no key');
begin;
insert into orders values (1);
select run_id as r from pawl.trigger('a.flow', key => 'order:1') \gset
commit;
select is(t.state(:'r'), 'QUEUED', 'committed: there is');

select * from finish();
