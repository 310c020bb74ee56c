-- SPDX-License-Identifier: Apache-2.0
select plan(16);
select pawl.create_workflow(n) from unnest(array['a.one', 'a.two', 'b.one']) n \g /dev/null
select is((select string_agg(listen::text, ' ' order by n) from (select n, t.session('{a.*}') as s from generate_series(1, 6) n) s, pawl.rest(s)), 'true true true true false false', 'of six that handle the same four listen');
select is((select count(*) from pawl.list_workers() where state = 'idle'), 6::bigint, 'all of them are idle');
select is((select listen from pawl.rest(t.session('{a.one}'))), false, 'one that handles less need not listen');
select t.session('{*}') as wide \gset
select is((select listen from pawl.rest(:wide)), true, 'one that handles more listens');
select t.session('{b.*}') as b \gset
select is((select listen from pawl.rest(:b)), true, 'so does one that handles something else');
select is((select listen from pawl.rest(:b)), true, 'also when it asks again');
update pawl_data.worker set tenant = 'a' where name = 'worker' and listens;
update pawl_data.setting set tenants_bound = true;
select t.session('{a.*}') as free \gset
select is((select listen from pawl.rest(:free)), true, 'those of a tenant do not stand in for one that takes all');
update pawl_data.worker set tenant = null;
-- As if all had begun at the same moment.
update pawl_data.worker set listens = true, idle = true;
select is((select string_agg(listen::text, ' ' order by w.session_id) from pawl_data.worker w, pawl.rest(w.session_id) where w.handles = '{a.*}'), 'true true true true false false false', 'if too many listen, the last ones stop');
create or replace function pawl._listeners_max() returns int language sql immutable as 'select 5';
select is((select listen from pawl.rest(:b)), false, 'the database has a limit');
select is((select string_agg(level, ' ') from pawl.doctor() where what = 'notifications' and found ~ 'listen'), 'info', 'which doctor reports');
select pawl.leave(session_id) from pawl_data.worker where handles = '{a.*}' and ended_at is null order by session_id limit 2 \g /dev/null
select is((select listen from pawl.rest(:b)), true, 'others that leave make room');
select is((select listen from pawl.rest(:b, may_listen => false)), false, 'who cannot listen need not');
select pawl.test_clock_advance('16 s') \g /dev/null
select pawl.heartbeat(:b) \g /dev/null
select t.session('{a.*}') as late \gset
select is((select listen from pawl.rest(:late)), true, 'so do those that have been silent for half of their lease');
select is(pawl.drain_worker(:late), 'ok', 'one that is to leave');
select is((select listen::text || draining from pawl.rest(:late)), 'falsetrue', 'does not listen, and is told so');
-- Seventeen of one tenant that each handle something else.
create or replace function pawl._listeners_max() returns int language sql immutable as 'select 1000';
select pawl.create_workflow('c.n' || n) from generate_series(1, 17) n \g /dev/null
select t.session(array['c.n' || n], name => 'c' || n) from generate_series(1, 17) n \g /dev/null
update pawl_data.worker set tenant = 'c' where name ~ '^c';
select is((select count(*) from pawl_data.worker w, pawl.rest(w.session_id) r where w.tenant = 'c' and r.listen), 16::bigint, 'of one tenant a share of them listens');
select * from finish();
