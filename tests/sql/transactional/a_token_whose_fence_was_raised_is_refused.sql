-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session(lease => '5 s') as s \gset
select t.session(lease => '1 hour') as s2 \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.step_token(:s, :'r', :f, 'debit#1') as token \gset
select t.later('1 min', :s2);
select throws_ok(format('select pawl.record_step(%L)', :'token'), 'PW005', null, 'swept, not yet taken');
select fence as f2 from t.one(:s2) \gset
select throws_ok(format('select pawl.record_step(%L)', :'token'), 'PW005', null, 'held by another');
select is(pawl.record_step(pawl.step_token(:s2, :'r', :f2, 'debit#1')), 'ok', 'the token of the new claim is good');
select pawl.raise_epoch('restore') as e \gset
select throws_ok(format('select pawl.record_step(%L)', pawl.step_token(:s2, :'r', :f2, 'other#1')), 'PW012', null, 'not after the epoch was raised');
select * from finish();
