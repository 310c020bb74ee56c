-- SPDX-License-Identifier: Apache-2.0
select plan(10);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.step_token(:s, :'r', :f, 'tx#1') as token \gset
select is(pawl.raise_epoch('restored from backup'), 2, 'the operator raises it');
select throws_ok(format('select * from pawl.claim(%s)', :s), 'PW012', null, 'claim');
select throws_ok(format('select * from pawl.heartbeat(%s)', :s), 'PW012', null, 'heartbeat');
select throws_ok(format('select pawl.record_step(%L)', :'token'), 'PW012', null, 'the transactional step');
select throws_ok(format('select * from pawl.held(%s)', :s), 'PW012', null, 'held');
select is((select string_agg(t.answer(:s, :'r', :f, k, 'x#1', '{}', null, 1), ' ') from unnest('{step,complete,fail,suspend,release}'::text[]) k),
    'lease_lost lease_lost lease_lost lease_lost lease_lost', 'commit');
select t.session() as new \gset
select is(:new >> 32, 2::bigint, 'a new session is of the new epoch');
select pawl.housekeep() \g /dev/null
select is((select run_id from t.one(:new)), :'r'::uuid, 'and takes over what the old ones held');
select throws_ok(format('select * from pawl.heartbeat(%s)', :s), 'PW005', null, 'the old session has ended');
select is((select what from pawl.list_actions() limit 1), 'raise_epoch', 'the act is on record');

select * from finish();
