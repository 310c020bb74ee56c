-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select t.session() as late \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'begin', 'a#1', null, '{"undo": {"handler": "h"}}') as c \gset
select t.answer(:s, :'r', :f, 'fail', null, '{}', '{"final": true}') as c \gset
select is(t.answer(:s, :'r', :f, 'fail', null, '{}', '{"final": true}'), 'already', 'the claim whose failure started it asks again');
select run_id, fence as f from t.one(:late) \gset
select t.later('31 s', :s);
select is(t.answer(:late, :'r', :f, 'complete'), 'lease_lost', 'one that was swept');
select * from finish();
