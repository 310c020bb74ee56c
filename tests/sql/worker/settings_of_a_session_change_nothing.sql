-- SPDX-License-Identifier: Apache-2.0
-- Formats of dates and intervals and the time zone are the caller's to choose; what is stored must not depend on them.
select plan(5);

set datestyle = 'German, DMY';
set intervalstyle = 'sql_standard';
set timezone = 'Asia/Kathmandu';
select pawl.create_workflow('a.flow', jitter => 0, run_timeout => '2 days') \g /dev/null
select t.session(lease => '1 day') as s \gset
select pawl.test_clock_set('2031-05-06 23:59:30+00') \g /dev/null
select pawl.heartbeat(:s) \g /dev/null
select run_id as r from pawl.trigger('a.flow', key => 'k') \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'r', :f, 'retry', 'a#1', '{}', '{"retry_after_ms": 300000}', 1), t.answer(:s, :'r', :f, 'suspend') \g /dev/null
select t.later('1 min') from generate_series(1, 4) \g /dev/null
set datestyle = 'SQL, MDY';
set intervalstyle = 'iso_8601';
set timezone = 'America/St_Johns';
select lives_ok($$select t.later('1 min')$$, 'housekeeping reads what another session wrote');
select is((select run_id from t.one(:s)), :'r'::uuid, 'the try is due when it was said to be');
set datestyle = 'ISO, YMD';
set timezone = 'UTC';
select lives_ok($$select t.later('1 min')$$, 'housekeeping goes on');
select is((select fence from pawl.held(:s)), 2, 'and the run is held');
select ok(to_regclass('pawl_data.run_20310513') is not null and to_regclass('pawl_data.run_20310506') is not null, 'days are those of UTC');

select * from finish();
