-- SPDX-License-Identifier: Apache-2.0
select plan(10);

select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select run_id as a from pawl.trigger('test.flow', expires => '1 min') \gset
select fence as fa from t.one(:s) \gset
select run_id as b from pawl.trigger('test.flow', expires => '1 min') \gset
select fence as fb from t.one(:s) \gset
select run_id as c from pawl.trigger('test.flow', expires => '1 min') \gset
select fence as fc from t.one(:s, start => false) \gset
select run_id as d from pawl.trigger('test.flow', expires => '1 min') \gset
select fence as fd from t.one(:s) \gset
select doesnt_match(pawl.why(:'a'), 'expire', 'why says nothing of it');
select is(t.answer(:s, :'b', :fb, 'sleep', 'nap#1', null, '{"ms": 600000}'), 'ok', 'one sleeps');
select is(t.answer(:s, :'b', :fb, 'suspend'), 'ok', 'with no worker');
select is(t.answer(:s, :'c', :fc, 'release'), 'ok', 'one is given back');
select is(t.answer(:s, :'d', :fd, 'complete', null, '1'), 'ok', 'one ends');
select is((select count(*) from pawl_data.wait where run_id = :'d'), 0::bigint, 'and leaves no limit');
select t.later('61 s', :s) \g /dev/null
select is(t.state(:'a'), 'RUNNING', 'the first goes on');
select is(t.state(:'b'), 'PAUSED sleep', 'that which sleeps, too');
select is(t.state(:'c'), 'QUEUED', 'and that which was given back');
select is((select run_id from t.one(:s)), :'c'::uuid, 'a worker gets it');
select * from finish();
