-- SPDX-License-Identifier: Apache-2.0
-- Housekeeping notes what fails in a row of pawl_data.chore, at most every ten seconds, and not while another transaction has the row.
select plan(6);
-- lives_ok() does not catch the end of a statement_timeout.
set lock_timeout = '5s';
select t.stop_clock();
select pawl._note_failure('timers', pawl.now(), 'one') \g /dev/null
select is((select last_error from pawl_data.chore where chore = 'timers'), 'one', 'noted');
select pawl._note_failure('timers', pawl.now() + interval '9 s', 'two') \g /dev/null
select is((select last_error from pawl_data.chore where chore = 'timers'), 'one', 'not again within ten seconds');
select pawl._note_failure('timers', pawl.now() + interval '11 s', 'three') \g /dev/null
select is((select last_error from pawl_data.chore where chore = 'timers'), 'three', 'but after that');
select pawl._note_failure('timers', pawl.now(), 'four') \g /dev/null
select is((select last_error from pawl_data.chore where chore = 'timers'), 'four', 'and when the clock was set back');
select t.other_holds('select chore from pawl_data.chore where chore = ''timers'' for update') \g /dev/null
select lives_ok('select pawl._note_failure(''timers'', pawl.now() + interval ''1 min'', ''five'')', 'nobody waits to note it');
select t.other_done() \g /dev/null
select is((select last_error from pawl_data.chore where chore = 'timers'), 'four', 'it is left out then');
select * from finish();
