-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s1 \gset
select t.session() as s2 \gset
select run_id as r, fence as f from t.held(:s1) \gset
select t.later('40 s', :s2) \g /dev/null
select fence as f2 from t.one(:s2) \gset
select cmp_ok(:f2, '>', :f, 'the fence has risen');
select is((select string_agg(t.answer(:s1, :'r', :f, k, 'x#1', '{}', null, 1), ' ')
    from unnest('{step,complete,fail,retry,step_error,sleep,suspend,release,begin,start,note,drift,signal}'::text[]) k),
    'lease_lost lease_lost lease_lost lease_lost lease_lost lease_lost lease_lost lease_lost lease_lost lease_lost lease_lost lease_lost lease_lost',
    'every kind of item is refused');
select is(t.answer(:s1, :'r', :f2, 'complete', null, '1'), 'lease_lost', 'a guessed fence does not help');
select is(t.answer(:s2, :'r', :f, 'complete', null, '1'), 'lease_lost', 'nor does an old one of the right session');
select is(t.answer(:s2, :'r', :f2, 'complete', null, '1'), 'ok', 'the holder ends it');

select * from finish();
