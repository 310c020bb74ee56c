-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select value ->> 'delay_ms' from t.item(:s, :'r', :f, 'retry', 'a#1', '{}', '{"retry_after_ms": 3600000}', 1)), '3600000', 'an hour, past the cap and without jitter');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'the run waits');
select t.later('59 min 59 s') \g /dev/null
select is(t.state(:'r'), 'PAUSED retry', 'not before');
select t.later('1 s') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'then');
select fence as f from t.one(:s) \gset
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'retry', 'a#1', '{}', '{"retry_after_ms": 0, "policy": {"max_attempts": 2}}', 1)), 'true', 'it does not count as more attempts than there are');
select is((select value ->> 'delay_ms' from t.item(:s, :'r', :f, 'retry', 'b#1', '{}', '{"retry_after_ms": -7}', 1)), '0', 'a negative time is none');
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'retry', 'c#1', '{}', '{"retry_after_ms": 1e300}', 1)), 'false', 'a huge one is cut');

select * from finish();
