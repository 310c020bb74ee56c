-- SPDX-License-Identifier: Apache-2.0
-- Its worker was lost after the cancel, and it cannot end as long as somebody holds its parent.
select plan(3);
select t.session(lease => '1 h') as s, t.session(handles => '{kid.flow}', lease => '5 s') as k \gset
select pawl.create_workflow('kid.flow') \g /dev/null
select run_id as r, fence as f from t.held(:s) \gset
select value ->> 'child' as c from t.item(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "kid.flow"}') \gset
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'the parent waits');
select run_id from t.one(:k) \g /dev/null
select is((select answer from pawl.cancel(array[:'c'::uuid])), 'ok', 'the child is cancelled');
select t.dblink_connect('other', format('host=%s port=%s user=%s dbname=%L', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database())) as x \gset
select t.dblink_exec('other', 'begin') as x \gset
select x from t.dblink('other', format('select 1 from pawl_data.task where run_id = %L for update', :'r')) r (x int) \g /dev/null
select t.later('6 s') \g /dev/null
select is(pawl.why(:'c'), 'Ending: cancelled 6 s ago. Its worker is gone. Ends when its grace period has passed (24 s left) and no other transaction locks its parent run.', 'exactly');
select t.dblink_disconnect('other') as x \gset
select * from finish();
