-- SPDX-License-Identifier: Apache-2.0
-- Triggers and claims of everybody look through the sessions, so the roles of one tenant have a limit; other roles have none.
select plan(21);
select 'sf_' || current_database() as flood, 'sg_' || current_database() as twin, 'sh_' || current_database() as other, 'su_' || current_database() as free \gset
select format('create role %I login', r) from unnest(array[:'flood', :'twin', :'other', :'free']) r \gexec
select pawl.grant_role(:'flood', r, 'flood') from unnest(array['worker', 'operator']) r \g /dev/null
select pawl.grant_role(:'twin', 'worker', 'flood') \g /dev/null
select pawl.grant_role(:'other', 'worker', 'other') \g /dev/null
select pawl.grant_role(:'free', 'worker') \g /dev/null
grant usage on schema t to :"flood";
select pawl.create_workflow('test.coded') \g /dev/null
select t.stop_clock() \g /dev/null
set session authorization :"flood";
select is((select count(*) from generate_series(1, 1000) n, lateral pawl.register('w' || n, '{zzz.*}', lease => '1 day')), 1000::bigint, 'a tenant may have as many sessions');
select throws_ok($$select * from pawl.register('more', '{*}')$$, 'PW007', 'tenant "flood" has reached its limit of 1000 sessions', 'and no more');
select throws_ok($$select pawl.set_session_limit(2000)$$, 'PW007', null, 'its operator does not raise the limit');
set session authorization :"twin";
select throws_ok($$select * from pawl.register('more', '{*}')$$, 'PW007', null, 'another role of the tenant has none either');
set session authorization :"other";
select lives_ok($$select * from pawl.register('other', '{*}')$$, 'another tenant is not concerned');
set session authorization :"free";
select is((select count(*) from generate_series(1, 1100) n, lateral pawl.register('f' || n, '{zzz.*}')), 1100::bigint, 'a role that is not bound has no limit');
reset session authorization;

select is(pawl.set_session_limit(), 1000, 'the limit is 1,000 at first');
select throws_ok($$select pawl.set_session_limit(0)$$, 'PW003', null, 'a limit of none is none');
select throws_ok($$select pawl.set_session_limit(1000001)$$, 'PW003', null, 'nor is one that is no limit');

-- What has ended does not count.
select min(session_id) as ended from pawl_data.worker where tenant = 'flood' \gset
set session authorization :"flood";
select pawl.leave(:ended) \g /dev/null
select lives_ok($$select * from pawl.register('instead', '{*}')$$, 'when a session has left, another may come');
select throws_ok($$select * from pawl.register('more', '{*}')$$, 'PW007', null, 'one');
reset session authorization;

-- The first worker that comes back sweeps a fleet that died with its runs: no other worker may be alive to do it.
delete from pawl_data.worker;
select pawl.set_session_limit(3) as limit \gset
select is(:limit, 3, 'the limit is changed');
set session authorization :"flood";
select s.session as s1 from pawl.register('one', '{*}') s \gset
select s.session as s2 from pawl.register('two', '{*}') s \gset
select s.session as s3 from pawl.register('three', '{*}', lease => '1 hour') s \gset
reset session authorization;
select pawl.trigger('test.coded', tenant => 'flood') \g /dev/null
set session authorization :"flood";
select is((select count(*) from pawl.claim(:s1, 1)), 1::bigint, 'a worker holds a run');
select throws_ok($$select * from pawl.register('more', '{*}')$$, 'PW007', null, 'three workers live');
reset session authorization;
update pawl_data.test_clock set at = at + interval '31 s';
set session authorization :"flood";
select lives_ok($$select * from pawl.register('again', '{*}')$$, 'two have died: a new one comes');
reset session authorization;
select is((select string_agg(ended_why, ' ') from pawl_data.worker where session_id in (:s1, :s2)), 'lost lost', 'which has swept them');
select is((select string_agg(status, ' ') from pawl.list_runs()), 'QUEUED', 'and the run is ready again');

-- Registrations of a tenant take turns, so that open transactions do not add up.
update pawl_data.worker set ended_at = now(), ended_why = 'left';
select t.other_holds(format('select set_config(''session_authorization'', %L, false)', :'flood')) \g /dev/null
select count(*) from t.dblink('other', 'select count(*)::text from generate_series(1, 3) n, lateral pawl.register(''other'' || n, ''{*}'')') r (x text) \g /dev/null
set session authorization :"flood";
select throws_ok($$select * from pawl.register('one', '{*}')$$, 'PW010', null, 'a registration waits for an open one of the tenant, and gives up');
set session authorization :"other";
select lives_ok($$select * from pawl.register('other', '{*}')$$, 'another tenant does not wait');
set session authorization :"free";
select lives_ok($$select * from pawl.register('free', '{*}')$$, 'nor does a role that is not bound');
reset session authorization;
select t.dblink_exec('other', 'commit') \g /dev/null
select t.dblink_disconnect('other') \g /dev/null
set session authorization :"flood";
select throws_ok($$select * from pawl.register('one', '{*}')$$, 'PW007', null, 'then the sessions of the other transaction count');
reset session authorization;
drop owned by :"flood", :"twin", :"other", :"free";
drop role :"flood", :"twin", :"other", :"free";
select * from finish();
