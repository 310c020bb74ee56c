-- SPDX-License-Identifier: Apache-2.0
-- A table whose name ends in anything, and callers with other settings, must not stop everybody's claims.
select plan(5);
select t.session(lease => '1 day') as s \gset
select t.later('1 s', :s);
create table public.partial_ (x int);
create table public.run_99999999 (x int);
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'a run');
set datestyle to 'German';
set timezone to 'Asia/Kolkata';
set intervalstyle to 'iso_8601';
set bytea_output to 'escape';
set extra_float_digits to -10;
select lives_ok($$select t.later('10 min')$$, 'housekeeping in one session');
reset all;
set datestyle to 'SQL, MDY';
select lives_ok($$select t.later('10 min')$$, 'and in another');
reset all;
select lives_ok($$select t.later('20 days')$$, 'and after weeks');
select is((select count(*) from pawl_data.metric), 1::bigint, 'the run was counted once');
select * from finish();
