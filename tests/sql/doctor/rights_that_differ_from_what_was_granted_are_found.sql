-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select 'dr_' || current_database() as named, 'ds_' || current_database() as stranger, 'dg_' || current_database() as gone \gset
select format('create role %I login', r) from unnest(array[:'named', :'stranger', :'gone']) r \gexec
select pawl.grant_role(:'named', 'producer') \g /dev/null
select pawl.grant_role(:'gone', r) from unnest(array['reader', 'producer']) r \g /dev/null
select is((select count(*) from pawl.doctor() where what in ('privileges', 'granted role', 'owner')), 0::bigint, 'nothing is wrong with the rights');
grant execute on all functions in schema pawl to public;
select matches((select level || ' ' || found from pawl.doctor() where what = 'privileges'), '^error PUBLIC has EXECUTE on [0-9]+ objects of schemas pawl and pawl_data that no grant names, for example pawl.grant_role\(name,text,text\)$',
    'functions for everybody, the worst one by name');
revoke execute on all functions in schema pawl from public;
select pawl.grant_role(:'named', 'producer') \g /dev/null
grant select on pawl_data.task, pawl_data.run to :"stranger";
select is((select level || ' ' || found from pawl.doctor() where what = 'privileges'), format('error role "%s" has SELECT on 2 objects of schemas pawl and pawl_data that no grant names, for example pawl_data.run', :'stranger'), 'tables of a role');
select matches((select cure from pawl.doctor() where what = 'privileges'), 'install pawl again, or call pawl.grant_role', 'with the cure');
revoke select on pawl_data.task, pawl_data.run from :"stranger";
revoke usage on schema pawl from :"named";
select is((select level || ' ' || found from pawl.doctor() where what = 'privileges'), format('error role "%s" lacks USAGE on 1 object of schemas pawl and pawl_data that a grant names, for example pawl', :'named'), 'a role that lacks what it was granted');
grant usage on schema pawl to :"named";
drop owned by :"gone";
drop role :"gone";
select is((select level || ' ' || found from pawl.doctor() where what = 'granted role'), format('warning role "%s" was granted producer, reader and does not exist in this cluster', :'gone'), 'a granted role that is missing here');
select is((select cure from pawl.doctor() where what = 'granted role'), format('Create the role and install pawl again, or forget it: select pawl.revoke_role(''%s'', ''producer'')', :'gone'), 'with two cures');
create function pawl._planted() returns int language sql as 'select 1';
select is((select level || ' ' || found from pawl.doctor() where what = 'owner'), format('error pawl._planted() belongs to role "%s" and not to the owner of schema pawl', current_user), 'a function of another owner');
drop function pawl._planted();
alter schema pawl_data owner to current_user;
grant usage on schema pawl_data to pawl_owner;
select is((select level || ' ' || found from pawl.doctor() where what = 'owner'), format('error schema pawl_data belongs to role "%s" and not to the owner of schema pawl', current_user), 'the schema of tables of another owner');
alter schema pawl_data owner to pawl_owner;
select pawl.revoke_role(:'gone', r) from unnest(array['reader', 'producer']) r \g /dev/null
select is((select count(*) from pawl.doctor() where what in ('privileges', 'granted role', 'owner')), 0::bigint, 'then all is well again');
drop owned by :"named", :"stranger";
drop role :"named", :"stranger";
select * from finish();
