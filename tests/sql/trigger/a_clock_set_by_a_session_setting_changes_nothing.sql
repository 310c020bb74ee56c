-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.stop_clock() \g /dev/null
select pawl.now() as before \gset
set pawl.now = '1999-01-01';
set pawl_data.test_clock = '1999-01-01';
select is(pawl.now(), :'before'::timestamptz, 'time is not a setting that any caller could move');
select is((select prosrc ~ 'current_setting' from pg_proc where oid = 'pawl.now()'::regprocedure), false, 'and it reads none');

select * from finish();
