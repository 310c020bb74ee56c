-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'note', 'n', repeat('x', 16384)), 'ok', '16 KB');
select is(t.answer(:s, :'r', :f, 'note', 'n', repeat('x', 16385)), 'refused', 'more');
select is(t.answer(:s, :'r', :f, 'note', repeat('n', 201), 'x'), 'refused', 'a long name');
select is(t.answer(:s, :'r', :f, 'note', 'n', null), 'refused', 'nothing to note');
select is(t.answer(:s, :'r', :f, 'note', null, '{not json'), 'ok', 'any text');
select is((select count(*) from pawl.notes(:'r')), 2::bigint, 'two are kept');

select * from finish();
