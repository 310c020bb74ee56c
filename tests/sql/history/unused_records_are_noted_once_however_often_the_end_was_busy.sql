-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session('{test.flow}') as s \gset
select t.session('{kid.v}') as ks \gset
select pawl.create_workflow('kid.v') as c \gset
select run_id as p, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'p', :f, 'child', 'k#1', '{}', '{"workflow": "kid.v"}'), 'ok', 'a child');
select run_id as k, fence as kf from t.one(:ks) \gset
select t.other_holds(format('select pawl.signal(%L, ''x'')', :'p')) as c \gset
select is((select string_agg(t.answer(:ks, :'k', :kf, 'complete', null, '1', '{"unused": ["a#1"]}'), ' ') from generate_series(1, 3)), 'busy busy busy', 'somebody has its parent');
select t.other_done() as c \gset
select is(t.answer(:ks, :'k', :kf, 'complete', null, '1', '{"unused": ["a#1"]}'), 'ok', 'then it ends');
select is(t.audit(:'k'), 'unused_records', 'and what it did not use is noted once');
select * from finish();
