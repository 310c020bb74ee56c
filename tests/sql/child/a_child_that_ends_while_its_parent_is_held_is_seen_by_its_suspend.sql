-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "kid.flow"}'), 'ok', 'a child');
select run_id as k, fence as kf from t.one(:s) \gset
select is((select answer from pawl.complete(:s, :'k', :kf, '5')), 'ok', 'it ends before the parent has let go');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'the parent lets go');
select is((select record #>> '{steps,0,output}' from t.one(:s)), '5', 'and goes on at once');
select * from finish();
