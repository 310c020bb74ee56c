-- SPDX-License-Identifier: Apache-2.0
select plan(7);
create function t.notified(statement text) returns bigint language plpgsql as $$
begin
    -- As if no worker had been notified just before.
    perform setval('pawl_data.bell_clock', 0);
    perform from t.dblink('ear', statement) r (x text);
    return (select count(*) from t.dblink_get_notify('ear'));
end $$;
select t.dblink_connect('ear', format('host=%s port=%s user=%s dbname=%L', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database())) as x \gset
select t.session(name => 'one') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x')), 'ok', 'a run waits for an event');
select run_id as r2, fence as f2 from t.held(:s) \gset
select is((select answer from pawl.wait_signal(:s, :'r2', :f2, 'go')), 'ok', 'another for a signal');
select t.dblink_exec('ear', format('listen "pawl_%s"', :s)) as x \gset
select pawl.rest(:s) \gset
select is(t.notified($$select answer from pawl.emit('y')$$), 0::bigint, 'an event for nobody');
select is(t.notified($$select answer from pawl.emit('x')$$), 1::bigint, 'an event for the run');
select is(t.notified(format('select pawl.signal(%L, %L)', :'r2', 'other')), 0::bigint, 'a signal that is stored');
select is(t.notified(format('select pawl.signal(%L, %L)', :'r2', 'go')), 1::bigint, 'a signal that wakes');
select is((select count(*) from pawl.claim(:s, 10)), 2::bigint, 'both can be claimed');
select * from finish();
