-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \gset
select t.later('1 s', :s);
select run_id as r from pawl.trigger('test.flow', tenant => 'a') \gset
select fence as f from t.one(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x')), 'ok', 'a run of tenant a waits');
select is((select woken from pawl.emit('x')), 0, 'an event of no tenant');
select is((select woken from pawl.emit('x', tenant => 'b')), 0, 'an event of another');
select is((select woken from pawl.emit('x', tenant => 'a')), 1, 'an event of its own');
select is((select x.answer from t.one(:s) o, lateral pawl.complete(:s, o.run_id, o.fence) x), 'ok', 'it ends');
do $$ begin for i in 1..10 loop perform t.later('30 s', (select max(session_id) from pawl_data.worker)); end loop; end $$;
select 'te_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', 'reader', 'b') \gset
set session authorization :"bound";
select is((select succeeded from pawl.metrics('test.flow')), 0::bigint, 'a reader of another tenant counts nothing');
reset session authorization;
select is((select succeeded from pawl.metrics('test.flow')), 1::bigint, 'everybody else one');
drop owned by :"bound";
drop role :"bound";
select * from finish();
