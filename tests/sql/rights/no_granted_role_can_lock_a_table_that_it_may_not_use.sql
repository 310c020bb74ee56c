-- SPDX-License-Identifier: Apache-2.0
-- 1. A granted role has a transaction open that locks a table of the engine. 2. It sends a statement that PostgreSQL refuses only after it
-- has locked the table, and which waits for that transaction. 3. Every later call would wait behind it. So a granted role cannot name a table.
select plan(9);
set lock_timeout = '5s';
select 'rl_' || current_database() as role \gset
create role :"role" login;
select pawl.grant_role(:'role', s) from unnest('{producer,worker,operator,reader}'::text[]) s \g /dev/null
create temporary table attempt (n int, statement text);
insert into attempt values
    (1, 'create rule r as on insert to pawl_data.task do instead nothing'),
    (2, 'create trigger r before insert on pawl_data.task for each row execute function pg_catalog.suppress_redundant_updates_trigger()'),
    (3, 'create statistics public.r on run_id, task_no from pawl_data.task'),
    (4, 'create policy r on pawl_data.task'),
    (5, 'comment on table pawl_data.task is $$ours$$'),
    (6, 'create index r on pawl_data.task (fence)'),
    (7, 'alter sequence pawl_data.session_no restart'),
    (8, 'create table pg_temp.r (like pawl_data.task)'),
    (9, 'lock table pawl_data.task in share row exclusive mode');
grant select on attempt to :"role";
grant all on schema public to :"role";
-- A row lock, as every open trigger, claim and commit has it.
select pawl.create_workflow('test.coded') \g /dev/null
select pawl.trigger('test.coded') \g /dev/null
select t.other_holds('select run_id from pawl_data.task for update') \g /dev/null
set session authorization :"role";
select throws_ok(statement, '42501', 'permission denied for schema pawl_data', statement) from attempt order by n;
reset session authorization;
select t.other_done() \g /dev/null
select * from finish();
revoke all on schema public from :"role";
drop owned by :"role";
drop role :"role";
