-- SPDX-License-Identifier: Apache-2.0
-- The engine starts the rollback of a run that a worker holds. What that worker says late was not what started it.
select plan(7);
select t.stop_clock();
select pawl.create_workflow('limited', run_timeout => '1 min');
select t.session(lease => '10 min') as s \gset
select r.run_id as r from pawl.trigger('limited') r \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'r', :f, 'begin', 'a#1', null, '{"undo": {"handler": "h"}}') as c \gset
select from t.later('2 min');
select from pawl.housekeep();
select ok(rolling_back, 'a time limit starts the rollback') from pawl_data.task where run_id = :'r';
select is(t.answer(:s, :'r', :f, 'complete'), 'lease_lost', 'the holder is told that it lost its lease');
select pawl.kill(array[:'r']::uuid[]) as c \gset
-- The end of the grace after a cancel.
select r.run_id as r from pawl.trigger('limited') r \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'r', :f, 'begin', 'a#1', null, '{"undo": {"handler": "h"}}') as c \gset
select pawl.cancel(array[:'r']::uuid[], rollback => true) as c \gset
select from t.later('2 min');
select from pawl.housekeep();
select ok(rolling_back, 'the end of the grace starts it') from pawl_data.task where run_id = :'r';
select is(t.answer(:s, :'r', :f, 'fail', null, '{}', '{"final": true}'), 'lease_lost', 'and likewise');
select pawl.kill(array[:'r']::uuid[]) as c \gset
-- The sweep of a cancelled run.
select r.run_id as r from pawl.trigger('limited') r \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'r', :f, 'begin', 'a#1', null, '{"undo": {"handler": "h"}}') as c \gset
select pawl.cancel(array[:'r']::uuid[], rollback => true) as c \gset
select from pawl.leave(:s);
select ok(rolling_back, 'a holder that leaves lets it start') from pawl_data.task where run_id = :'r';
select ok(fence > :f and ending ->> 'fence' is null, 'under a fence that it never had') from pawl_data.task where run_id = :'r';
-- Nor did anybody else have it: a later claim that waits is not the one that started the rollback.
select t.session(lease => '10 min') as s \gset
select fence as f from t.one(:s) \gset
select from pawl.wait_signal(:s, :'r', :f, 'rollback:a#1');
select is(t.answer(:s, :'r', :f - 1, 'fail', null, '{}', '{"final": true}'), 'lease_lost', 'also behind the next claim');
select * from finish();
