-- SPDX-License-Identifier: Apache-2.0
select no_plan();
select 'tp_' || current_database() as producer, 'to_' || current_database() as operator, 'tb_' || current_database() as bound, 'tw_' || current_database() as gw \gset
create role :"producer" login;
create role :"operator" login;
create role :"bound" login;
create role :"gw" login;
select t.stop_clock() \g /dev/null
select pawl.grant_role(:'operator', 'operator') \g /dev/null
select pawl.grant_role(:'producer', s) from unnest(array['operator', 'producer']) s \g /dev/null
select pawl.grant_role(:'bound', 'operator', 'acme') \g /dev/null

-- What a token is.
select pawl.create_token('ci', sha256('ci'), '{reader,producer,reader}', expires => '90 days', by => 'dora') as id \gset
select is(pawl.create_token('ci', sha256('ci'), '{producer,reader}'), :id::bigint, 'the same again answers the same');
select is((select format('%s %s %s %s %s %s', l.token_id, l.name, l.rights, l.tenant, l.created_by, l.expires_at - l.created_at) from pawl.list_tokens() l),
          format('%s ci {producer,reader}  dora 90 days', :id), 'it is listed');
select is((select l::text ~ encode(sha256('ci'), 'hex') from pawl.list_tokens() l), false, 'without its digest');
select is((select format('%s %s %s', a.what, a.who, a.detail) from pawl.list_actions() a order by a.action_no desc limit 1),
          'create_token dora {"token" : "ci", "rights" : ["producer","reader"], "tenant" : null, "expires" : "90 days"}', 'the action is recorded');
select throws_ok('select pawl.create_token(''ci'', sha256(''other''), ''{producer,reader}'')', 'PW003', 'token "ci" exists', 'a name stands for one token');
select throws_ok('select pawl.create_token(''ci'', sha256(''ci''), ''{reader}'')', 'PW003', null, 'with the same rights');
select throws_ok('select pawl.create_token(''other'', sha256(''ci''), ''{reader}'')', 'PW003', 'the digest is that of another token', 'a digest, too');
select throws_ok(format('select pawl.create_token(%L, sha256(''x''), ''{reader}'')', n), 'PW003', null, 'a bad name: ' || left(coalesce(n, 'none'), 10))
from unnest(array['', repeat('x', 101), e'a\nb', null]) n;
select lives_ok(format('select pawl.create_token(%L, sha256(''x''), ''{reader}'')', repeat('é', 100)), 'a long name');
select throws_ok(format('select pawl.create_token(''x'', %L, ''{reader}'')', d), 'PW003', null, 'a digest that is none') from unnest(array['', 'x', repeat('x', 33), null]) d;
select throws_ok(format('select pawl.create_token(''x'', sha256(''y''), %L)', r), 'PW003', null, 'rights that are none') from unnest(array['{}', '{root}', '{worker}', '{gateway}', '{reader,root}', '{null}', null]) r;
select throws_ok(format('select pawl.create_token(''x'', sha256(''y''), ''{reader}'', expires => %L)', e), 'PW003', null, 'it cannot expire ' || e) from unnest(array['0', '-1 h', '101 years']) e;
select throws_ok('select pawl.create_token(''x'', sha256(''y''), ''{reader}'', repeat(''x'', 201))', 'PW003', null, 'a tenant that is none');

-- Who may give what.
set session authorization :"operator";
select lives_ok('select pawl.create_token(''o'', sha256(''o''), ''{operator,reader}'')', 'an operator gives what it has');
select throws_ok('select pawl.create_token(''p'', sha256(''p''), ''{producer}'')', '42501', format('%s cannot give the right producer', :'operator'), 'and no more');
set session authorization :"producer";
select lives_ok('select pawl.create_token(''p'', sha256(''p''), ''{producer,operator,reader}'')', 'one that is a producer, too, gives that');
set session authorization :"bound";
select lives_ok('select pawl.create_token(''b'', sha256(''b''), ''{operator}'')', 'a bound operator');
select lives_ok('select pawl.create_token(''p'', sha256(''bp''), ''{reader}'')', 'may use a name that another tenant has');
select throws_ok('select pawl.create_token(''c'', sha256(''c''), ''{reader}'', ''other'')', 'PW001', null, 'names no other tenant');
select throws_ok('select pawl.revoke_token(''o'')', 'PW001', null, 'revokes no token of others');
select is((select string_agg(concat_ws(' ', l.name, l.tenant), ', ' order by l.token_id) from pawl.list_tokens() l), 'b acme, p acme', 'and sees its own');
reset session authorization;
select pawl.grant_role(:'gw', 'gateway') \g /dev/null
set session authorization :"gw";
begin;
select from pawl.act_as_token(sha256('o'));
select lives_ok('select pawl.create_token(''o2'', sha256(''o2''), ''{reader}'', by => ''eve'')', 'a token creates tokens');
select throws_ok('select pawl.create_token(''o3'', sha256(''o3''), ''{producer}'')', '42501', 'token:o cannot give the right producer', 'with rights of its own');
select is((select created_by from pawl.list_tokens() where name = 'o2'), 'token:o (eve)', 'which is recorded');
commit;
begin;
select from pawl.act_as_token(sha256('b'));
select pawl.create_token('b2', sha256('b2'), '{reader}') \g /dev/null
select is((select tenant from pawl.list_tokens() where name = 'b2'), 'acme', 'a token of a tenant creates tokens of the tenant');
commit;
reset session authorization;

-- Revoked.
select throws_ok('select pawl.revoke_token(''p'')', 'PW003', 'several tenants have a token "p"', 'an operator names the tenant of one of several');
select is(pawl.revoke_token('p', tenant => 'acme'), 'ok', 'with the tenant');
select is(pawl.revoke_token('p'), 'ok', 'then the only one');
select is(pawl.revoke_token('p'), 'already', 'then none');
select throws_ok('select pawl.revoke_token(''nothing'')', 'PW001', 'token "nothing" not found', 'an unknown one');
select lives_ok('select pawl.create_token(''p'', sha256(''p2''), ''{reader}'')', 'the name is free again');
select throws_ok('select pawl.create_token(''p4'', sha256(''p''), ''{reader}'')', 'PW003', null, 'the digest is not');
select is((select string_agg(a.what, ' ' order by a.action_no) from pawl.list_actions() a where a.what = 'revoke_token'), 'revoke_token revoke_token', 'what was done is recorded');

-- Forgotten.
select is((select count(*) from pawl.list_tokens() where name = 'p'), 3::bigint, 'revoked tokens are listed');
select t.later('31 days') \g /dev/null
select lives_ok('select pawl.create_token(''q'', sha256(''q''), ''{reader}'')', 'a month later');
select is((select count(*) from pawl.list_tokens() where name = 'p'), 2::bigint, 'those of the same tenant are forgotten');
select is((select count(*) from pawl.list_tokens() where name = 'ci'), 1::bigint, 'a token that has not expired is not');

-- How many.
insert into pawl_data.token (name, digest, rights, tenant, created_at, created_by)
select 't' || n, sha256(n::text::bytea), '{reader}', 'acme', pawl.now(), 'test' from generate_series(1, 1000) n;
set session authorization :"bound";
select throws_ok('select pawl.create_token(''many'', sha256(''many''), ''{reader}'')', 'PW009', null, 'a tenant has 1,000 tokens at most');
reset session authorization;
select lives_ok('select pawl.create_token(''many'', sha256(''many''), ''{reader}'')', 'others are not kept from more');
select is((select count(*) from pawl.list_tokens()), 100::bigint, 'a list has a hundred if nothing else is said');
select is((select array_agg(n.token_id) from (select token_id from pawl.list_tokens(max_rows => 5) union all select token_id from pawl.list_tokens((select min(token_id) from pawl.list_tokens(max_rows => 5)), 5)) n),
          (select array_agg(token_id) from pawl.list_tokens(max_rows => 10)), 'pages follow each other');
select throws_ok(format('select pawl.grant_role(%L, ''reader'')', :'gw'), 'PW003', null, 'a gateway gets no other set');
select throws_ok(format('select pawl.grant_role(%L, ''gateway'')', :'operator'), 'PW003', null, 'nor does a role with another set become one');
select throws_ok(format('select pawl.grant_role(%L, ''gateway'', ''acme'')', :'gw'), 'PW003', null, 'a gateway has no tenant');
select throws_ok('select pawl.grant_role(''pawl_owner'', ''gateway'')', 'PW003', null, 'the owner is none');
-- Callers are looked up as long as there are tokens.
select pawl.revoke_role(:'gw', 'gateway'), pawl.revoke_role(:'bound', 'operator') \g /dev/null
select is((select s.tenants_bound from pawl_data.setting s), true, 'tokens alone make that callers are looked up');
delete from pawl_data.token;
select pawl.revoke_role(:'operator', 'operator') \g /dev/null
select is((select s.tenants_bound from pawl_data.setting s), false, 'without them none are');
select pawl.create_token('last', sha256('last'), '{reader}') \g /dev/null
select is((select s.tenants_bound from pawl_data.setting s), true, 'with the first they are');
begin;
select from pawl.act_as_token(sha256('last'));
select throws_ok('select pawl.pause_all()', '42501', null, 'so that the owner, too, is narrowed');
commit;
drop owned by :"producer", :"operator", :"bound", :"gw";
drop role :"producer", :"operator", :"bound", :"gw";
select * from finish();
