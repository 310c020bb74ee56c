-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select t.run('test.flow', '{}', 'order:42') as r \gset
select run_id as r, fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'a run with a key has ended');
select runs from pawl.set_retention('100 years') \gset
select t.later('11 min', :s) as c \gset
select is((select created from pawl.trigger('test.flow', '{}', key => 'order:42')), false, 'and its key stays taken');
select is(pawl._id_floor('1900-01-01'), '00000000-0000-0000-0000-000000000000', 'there are no ids from before 1970');
select * from finish();
