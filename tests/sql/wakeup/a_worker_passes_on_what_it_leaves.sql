-- SPDX-License-Identifier: Apache-2.0
-- After each trigger of this session, the other connection hears what it has notified.
select plan(15);
select t.ear() \g /dev/null
select pawl.create_workflow(n) from unnest(array['a.one', 'b.one']) n \g /dev/null
select t.session('{*}') as s \gset
\set pass 'format($$select pawl.pass_on(%s)::text$$, :s)'
select is(pawl.pass_on(:s), 0, 'no other worker rests');
select t.rester('{a.*}') as a \gset
select t.rester('{b.*}') as b \gset
select is(t.rung(:pass), null, 'nothing is ready');
select pawl.trigger('b.one') \g /dev/null
select t.rung('select 1::text') \g /dev/null
select is(t.rung(:pass), 'pawl_' || :b, 'a worker of the queue is notified');
select is((select x from t.dblink('ear', format('select pg_current_xact_id_if_assigned()::text from pawl.pass_on(%s)', :s)) r (x text)), null, 'a transaction that writes nothing');
select is((select count(*) from t.dblink_get_notify('ear')), 1::bigint, 'though it notifies');
select pawl.trigger('a.one') \g /dev/null
select t.rung('select 1::text') \g /dev/null
select is(t.rung(:pass), 'pawl_' || :a || ' pawl_' || :b, 'for each queue one');
select is(t.rung(format($$select pawl.pass_on(%s)::text$$, :a)), 'pawl_' || :b, 'but not the caller');
select pawl.pause_queue('a.one') \g /dev/null
select is(t.rung(:pass), 'pawl_' || :b, 'what is paused is nothing to do');
select pawl.resume_queue('a.one') \g /dev/null
select t.rung('select 1::text') \g /dev/null
select pawl.pause_all() \g /dev/null
select is(t.rung(:pass), null, 'nor is anything while everything is paused');
select is(t.rung('select pawl.resume_all()'), 'pawl_' || :a || ' pawl_' || :b, 'a resume of everything notifies all that listen');
select is(t.rung(:pass), 'pawl_' || :a || ' pawl_' || :b, 'and there is something to pass on');
update pawl_data.worker set tenant = 'x' where session_id = :b;
update pawl_data.setting set tenants_bound = true;
select is(t.rung(:pass), 'pawl_' || :a, 'a bound worker is notified of its tenant only');
select pawl.trigger('b.one', tenant => 'x') \g /dev/null
select t.rung('select 1::text') \g /dev/null
select is(t.rung(:pass), 'pawl_' || :a || ' pawl_' || :b, 'which has something now');
update pawl_data.worker set tenant = 'x' where session_id = :s;
select is(t.rung(:pass), 'pawl_' || :b, 'and passes on its tenant only');
select pawl.leave(:s) \g /dev/null
select throws_ok(format('select pawl.pass_on(%s)', :s), 'PW005', null, 'a session that has left passes nothing on');
select * from finish();
