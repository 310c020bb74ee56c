-- SPDX-License-Identifier: Apache-2.0
select plan(5);
create temporary table before as select count(*) as n from pg_roles where rolname not like '%' || current_database();
select run_id as r from t.session() s, lateral t.held(s) \gset
select count(*) as n from pawl.emit('x') \gset
set client_min_messages to warning;
set session authorization pawl_owner;
drop schema if exists pawl, pawl_data cascade;
reset session authorization;
select is((select count(*) from pg_namespace where nspname like 'pawl%'), 0::bigint, 'no schema');
select is((select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace where pg_get_userbyid(c.relowner) = 'pawl_owner' and n.nspname !~ '^pg_'), 0::bigint, 'no table');
select is((select count(*) from pg_proc where pg_get_userbyid(proowner) = 'pawl_owner'), 0::bigint, 'no function');
select is((select count(*) from pg_type t join pg_namespace n on n.oid = t.typnamespace where pg_get_userbyid(t.typowner) = 'pawl_owner' and n.nspname !~ '^pg_'), 0::bigint, 'no type');
select is((select count(*) from pg_event_trigger) + (select count(*) from pg_publication), 0::bigint, 'nothing of the whole database');
select * from finish();
