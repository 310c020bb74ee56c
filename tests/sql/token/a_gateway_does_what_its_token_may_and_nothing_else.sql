-- SPDX-License-Identifier: Apache-2.0
-- Each way by which a gateway could do something for a caller that it has not named in this transaction.
select no_plan();
select 'gw_' || current_database() as gw, 'gm_' || current_database() as member, 'gl_' || current_database() as login, 'gb_' || current_database() as bound \gset
create role :"gw" login;
create role :"member" login in role :"gw";
create role :"login" login;
create role :"bound" login;
select pawl.create_workflow('test.coded') \g /dev/null
select run_id as theirs from pawl.trigger('test.coded', tenant => 'other') \gset
select run_id as ours from pawl.trigger('test.coded', tenant => 'acme') \gset
select pawl.grant_role(:'gw', 'gateway') \g /dev/null
select pawl.grant_role(:'login', 'reader') \g /dev/null
select pawl.grant_role(:'bound', 'reader', 'other') \g /dev/null
select pawl.create_token('ci', sha256('ci'), '{producer}') \g /dev/null
select pawl.create_token('root', sha256('root'), '{producer,operator,reader}') \g /dev/null
select pawl.create_token('acme', sha256('acme'), '{operator,reader}', 'acme') \g /dev/null
select pawl.create_token('short', sha256('short'), '{reader}', expires => '1 h') \g /dev/null
select is((select s.tenants_bound from pawl_data.setting s), true, 'callers are looked up where there is a gateway');
create schema shop authorization :"gw";
grant usage on schema shop to :"login", :"member";
set session authorization :"gw";
create function shop.order() returns uuid language sql security definer set search_path to pg_catalog, pg_temp as 'select run_id from pawl.trigger(''test.coded'')';
create function shop.act() returns text language sql security definer set search_path to pg_catalog, pg_temp as 'select who from pawl.act_as_token(sha256(''root''))';

select throws_ok('select * from pawl.list_runs()', '42501', format('role "%s" is a gateway, and has not said for whom it acts', :'gw'), 'a gateway that does not act for a token is refused');
select throws_ok('select * from pawl.trigger(''test.coded'')', '42501', null, 'by each verb');
select throws_ok('select * from pawl.act_as_token(sha256(''no''))', '28000', 'token is unknown, expired or revoked', 'an unknown token is refused');
select throws_ok('select * from pawl.act_as_token(null)', '28000', null, 'so is none');
begin;
select is((select format('%s %s %s %s', a.who, a.rights, a.tenant, a.expires_at) from pawl.act_as_token(sha256('ci')) a), 'token:ci {producer}  ', 'act_as_token answers who it is');
select lives_ok('select * from pawl.trigger(''test.coded'')', 'what the rights of the token hold is done');
select throws_ok('select * from pawl.list_runs()', '42501', 'token:ci has no right to pawl.list_runs', 'what they do not hold is refused');
select lives_ok('select from pawl.act_as_token(sha256(''ci''))', 'the same token again');
select throws_ok('select from pawl.act_as_token(sha256(''root''))', '42501', 'this transaction acts for another token', 'another one in the same transaction is refused');
savepoint s;
select throws_ok('select * from pawl.list_runs()', '42501', null, 'and changes nothing');
rollback to s;
select throws_ok('select * from pawl.list_runs()', '42501', null, 'nor does a rollback to a savepoint');
commit;
select throws_ok('select * from pawl.trigger(''test.coded'')', '42501', null, 'the next transaction acts for nobody');

begin;
select from pawl.act_as_token(sha256('acme'));
select is((select string_agg(tenant, ' ') from pawl.list_runs()), 'acme', 'a token of a tenant finds runs of the tenant');
select throws_ok(format('select * from pawl.get_run(%L)', :'theirs'), 'PW001', null, 'and no other');
select throws_ok('select pawl.pause_workflow(''test.coded'')', 'PW007', null, 'and does nothing to all tenants');
select is((select answer from pawl.pause(array[:'ours', :'theirs']::uuid[], by => 'dora') where run_id = :'theirs'), 'not_found', 'its operator acts in the tenant');
select is(pawl.why(:'ours') ~ '^Paused by token:acme \(dora\) at', true, 'and is recorded with the name of its token');
commit;

-- What pawl.acting has is worth nothing unless act_as_token() wrote it in this transaction.
begin;
select from pawl.act_as_token(sha256('root'));
select current_setting('pawl.acting') as stamp \gset
select set_config('pawl.acting', :'stamp', false) \g /dev/null
commit;
select throws_ok('select * from pawl.list_runs()', '42501', 'setting pawl.acting was not written by pawl.act_as_token() in this transaction', 'a stamp that was set for the session');
begin;
select lives_ok('select from pawl.act_as_token(sha256(''ci''))', 'a token counts and an old stamp does not');
select throws_ok('select * from pawl.list_runs()', '42501', 'token:ci has no right to pawl.list_runs', 'so its rights count');
commit;
reset pawl.acting;
select throws_ok(format('select * from pawl.list_runs(), set_config(''pawl.acting'', %L, true)', '{"who": "token:root", "rights": ["reader"]}'), '42501', null, 'a set and a verb in one statement');
begin;
select from pawl.act_as_token(sha256('ci'));
select set_config('pawl.acting', replace(current_setting('pawl.acting'), 'producer', 'reader'), true) \g /dev/null
select throws_ok('select * from pawl.list_runs()', '42501', 'setting pawl.acting was not written by pawl.act_as_token() in this transaction', 'a stamp that was changed');
commit;
begin;
select set_config('pawl.acting', encode(sha256('x'), 'hex') || ' {"who": "token:root", "rights": ["reader"]}', true) \g /dev/null
select throws_ok('select * from pawl.list_runs()', '42501', 'setting pawl.acting was not written by pawl.act_as_token() in this transaction', 'a stamp that was made by hand');
commit;
begin;
select set_config('pawl.acting', 'x', true) \g /dev/null
select throws_ok('select * from pawl.list_runs()', '42501', 'setting pawl.acting was not written by pawl.act_as_token() in this transaction', 'a text that is no stamp');
commit;
reset session authorization;
-- A stamp that is right but for the backend.
begin;
select pawl.act_as_token(sha256('root')) \g /dev/null
select (substr(current_setting('pawl.acting'), 66)::jsonb || '{"pid": 1}')::text as content \gset
select set_config('pawl.acting', pawl._stamp_digest(:'content') || ' ' || :'content', true) \g /dev/null
select throws_ok('select * from pawl.list_runs()', '42501', 'setting pawl.acting was not written by pawl.act_as_token() in this transaction', 'a stamp of another backend');
commit;

-- Ways round the gateway.
set session authorization :"member";
select throws_ok('select * from pawl.list_runs()', '42501', null, 'a member of a gateway has to act for a token, too');
set role :"gw";
select throws_ok('select * from pawl.list_runs()', '42501', null, 'also when it has set the role');
reset role;
begin;
select from pawl.act_as_token(sha256('root'));
select lives_ok('select * from pawl.list_runs()', 'and can');
commit;
set session authorization :"login";
select lives_ok('select * from pawl.list_runs()', 'a login that is no gateway acts for itself');
select throws_ok('select shop.order()', '42501', format('role "%s" has no right of its own to pawl.trigger', :'login'), 'a function of the gateway does not give it more');
begin;
select is(shop.act(), 'token:root', 'nor does a function that acts for a token');
select throws_ok('select shop.order()', '42501', null, 'which only takes rights');
select lives_ok('select * from pawl.list_runs()', 'what it may do itself it still may');
commit;
reset session authorization;
grant usage on schema shop to :"bound";
set session authorization :"bound";
begin;
select shop.act() \g /dev/null
select is((select string_agg(distinct tenant, ' ') from pawl.list_runs()), 'other', 'a bound login stays in its tenant');
commit;
reset session authorization;
set session authorization :"gw";
create or replace function shop.act() returns text language sql security definer set search_path to pg_catalog, pg_temp as 'select who from pawl.act_as_token(sha256(''acme''))';
set session authorization :"bound";
begin;
select shop.act() \g /dev/null
select throws_ok('select * from pawl.list_runs()', '42501', format('token:acme works in another tenant than role "%s"', :'bound'), 'a token of another tenant is refused');
commit;
reset session authorization;

-- The owner may act for a token, too.
set session authorization pawl_owner;
begin;
select from pawl.act_as_token(sha256('acme'));
select throws_ok(format('select pawl.grant_role(%L, %L)', :'login', 'operator'), '42501', 'token:acme has no right to pawl.grant_role', 'the owner is narrowed');
select throws_ok('select * from pawl.register(''w'', ''{*}'')', '42501', 'token:acme has no right to pawl.register', 'nobody can work for a token');
commit;
select lives_ok(format('select pawl.grant_role(%L, %L)', :'login', 'operator'), 'until the end of the transaction');
reset session authorization;

-- A worker that ticks continues a bulk of a token, whose rights it does not have.
select pawl.create_token('op', sha256('op'), '{operator}') \g /dev/null
select pawl.grant_role(:'bound', 'worker', 'other') \g /dev/null
select pawl.revoke_role(:'bound', 'reader') \g /dev/null
set session authorization :"gw";
begin;
select from pawl.act_as_token(sha256('op'));
select pawl.begin_bulk('cancel', '{"tenant": "other"}') as bulk \gset
commit;
set session authorization :"bound";
call pawl.tick(true);
reset session authorization;
select is((select format('%s %s', b.started_by, b.answers) from pawl.list_bulks() b), 'token:op {"ok": 1}', 'a bulk is done by whoever ticks');
select is((select h.who from pawl.history(:'theirs') h where h.what = 'cancel'), format('token:op (bulk %s)', :'bulk'), 'and its token is recorded');

-- Tokens end.
select pawl.revoke_token('ci') \g /dev/null
set session authorization :"gw";
select throws_ok('select from pawl.act_as_token(sha256(''ci''))', '28000', 'token is unknown, expired or revoked', 'a revoked token is refused at once');
begin;
select is((select a.expires_at > pawl.now() from pawl.act_as_token(sha256('short')) a), true, 'a token knows when it expires');
commit;
reset session authorization;
select t.later('61 min') \g /dev/null
set session authorization :"gw";
select throws_ok('select from pawl.act_as_token(sha256(''short''))', '28000', 'token is unknown, expired or revoked', 'and is refused then');
reset session authorization;
drop schema shop cascade;
drop owned by :"gw", :"member", :"login", :"bound";
drop role :"member", :"gw", :"login", :"bound";
select * from finish();
