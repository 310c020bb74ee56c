-- SPDX-License-Identifier: Apache-2.0
-- Each verb, called for each kind of token, by a gateway that acts for none, and through another role's function. A verb that does not give
-- its name to the engine's check of callers is listed here.
select plan(9);
select 'vg_' || current_database() as gw, 'va_' || current_database() as every, 'vn_' || current_database() as clerk \gset
select t.victim() \g /dev/null
-- These tell nothing of any run, and every set has them, but for the last two: a token of a step is no secret, and act_as_token() comes first.
create temporary table open_verb (verb) as select unnest(array['now', 'errors', 'make_id', 'slot_of', 'epoch', 'step_token', 'act_as_token']);
create temporary table call (verb text, call text);
insert into call
select c.verb, replace(replace(c.call, '{run}', quote_literal(h.value) || '::uuid'), '{me}', 'no_such_role')
from t.foreign_call c cross join (select value from t.victim_thing where name = 'held') h
-- call cannot be sent in a block; the other row of tick has its pieces.
where not starts_with(c.call, 'call ');
do $$ declare v record; begin
    for v in select * from t.victim_thing loop
        update call c set call = replace(c.call, '{' || v.name || '}', case when v.name = 'session' then v.value else quote_literal(v.value) || '::uuid' end);
    end loop;
end $$;
select is((select string_agg(p.proname, ' ') from pg_proc p
           where p.pronamespace = 'pawl'::regnamespace and p.proname not like '\_%' and p.proname not like 'test\_clock%'
             and not exists (select from call c where c.verb = p.proname)), null, 'every public function is called');
create role :"gw" login;
create role :"every" login;
create role :"clerk" login;
grant usage on schema t to :"gw", :"every", :"clerk";
select pawl.grant_role(:'gw', 'gateway') \g /dev/null
select pawl.grant_role(:'every', s) from unnest(array['producer', 'worker', 'operator', 'reader']) s \g /dev/null
select pawl.create_token(r, sha256(r::bytea), array[r]) from unnest(array['producer', 'operator', 'reader']) r \g /dev/null
-- A token that holds nothing: no call makes one, and with it the verbs that all sets have are seen, too.
alter table pawl_data.token drop constraint token_rights_are_known;
insert into pawl_data.token (name, digest, rights, created_at, created_by) values ('none', sha256('none'), '{none}', pawl.now(), 'test');

-- The message of a call for a token, or without one, or ok; and nothing stays of it.
create function t.message_of(role name, token text, call text) returns text language plpgsql as $$
declare
    v_message text;
begin
    begin
        execute format('set session authorization %I', role);
        begin
            if token is not null then
                perform pawl.act_as_token(sha256(token::bytea));
            end if;
            execute call;
            v_message := 'ok';
        exception when others then
            v_message := sqlerrm;
        end;
        reset session authorization;
        raise exception using errcode = 'TT000', message = v_message;
    exception when sqlstate 'TT000' then
        v_message := sqlerrm;
    end;
    return v_message;
end $$;
grant execute on function t.message_of(name, text, text) to public;
create temporary table seen as
select c.verb, c.call, r.token, t.message_of('pawl_owner', r.token, c.call) as message
from call c cross join unnest(array['none', 'producer', 'operator', 'reader']) r (token);
select is((select string_agg(distinct s.verb || ': ' || s.message, e'\n') from seen s
           where s.token = 'none' and s.message !~ '^token:none has no right to pawl[.]' and s.verb not in (select o.verb from open_verb o)),
          null, 'a token without rights may do nothing');
select is((select string_agg(distinct s.verb || ': ' || s.message, e'\n') from seen s
           where s.verb in (select o.verb from open_verb o) and s.message <> 'ok' and s.verb <> 'act_as_token'), null, 'but what tells nothing');
select is((select string_agg(format('%s of %s: %s', s.verb, s.token, s.message), e'\n') from seen s
           where s.token <> 'none' and s.verb not in (select o.verb from open_verb o)
             and (s.message ~ 'has no right to pawl[.]') = (s.verb = any (pawl._functions_of(s.token)))), null, 'any other does what its rights hold');
select is((select string_agg(distinct s.verb, ' ') from seen s where s.message ~ 'has no right' and s.message !~ ('pawl[.]' || s.verb || '$')),
          'claim complete fail release sleep step wait_event wait_signal', 'each names itself, but those that are commit_each, and a row of claim that begins with register');

select is((select string_agg(format('%s: %s', c.verb, m.message), e'\n')
           from call c cross join lateral (select t.message_of(:'gw', null, c.call) as message) m
           where c.verb not in (select o.verb from open_verb o) and m.message !~ 'is a gateway, and has not said for whom it acts$'
             and c.verb = any (pawl._functions_of('gateway'))), null, 'a gateway that acts for no token may do none of it');
select is((select string_agg(c.verb, ' ' order by c.verb)
           from call c where t.message_of(:'gw', null, c.call) ~ '^permission denied for function' and c.verb = any (pawl._functions_of('gateway'))), null, 'of what it was granted');

-- Through a function of a role that may do everything.
create schema shop authorization :"every";
grant usage on schema shop to public;
set session authorization :"every";
create function shop.run(call text) returns void language plpgsql security definer set search_path to pg_catalog, pg_temp as 'begin execute call; end';
reset session authorization;
select is((select string_agg(format('%s: %s', c.verb, m.message), e'\n')
           from call c cross join lateral (select t.message_of(:'clerk', null, format('select shop.run(%L)', c.call)) as message) m
           where c.verb not in (select o.verb from open_verb o) and m.message !~ 'has no right of its own to pawl[.]'
             and c.verb not in ('grant_role', 'revoke_role')), null, 'a login without rights may do none of it through a function of another role');
select pawl.grant_role(:'clerk', 'reader') \g /dev/null
select is((select string_agg(format('%s: %s', c.verb, m.message), e'\n')
           from call c cross join lateral (select t.message_of(:'clerk', null, format('select shop.run(%L)', c.call)) as message) m
           where c.verb not in (select o.verb from open_verb o) and c.verb not in ('grant_role', 'revoke_role')
             and (m.message ~ 'has no right of its own to pawl[.]') = (c.verb = any (pawl._functions_of('reader')))), null, 'a reader what readers may');
drop schema shop cascade;
drop owned by :"gw", :"every", :"clerk";
drop role :"gw", :"every", :"clerk";
select * from finish();
