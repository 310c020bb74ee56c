-- SPDX-License-Identifier: Apache-2.0
-- It was idle when it was asked to leave, and has a step to finish first. It takes nothing, so another one is notified.
select plan(4);
create function t.heard(statement text) returns text language plpgsql as $$
begin
    -- As if no worker had been notified just before.
    perform setval('pawl_data.bell_clock', 0);
    perform from t.dblink('ear', statement) r (x text);
    return (select string_agg(n.notify_name, ' ') from t.dblink_get_notify('ear') n where n.extra <> 'drain');
end $$;
select t.dblink_connect('ear', format('host=%s port=%s user=%s dbname=%L', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database())) as x \gset
select pawl.create_workflow('test.flow') \g /dev/null
select t.session(name => 'one') as a, t.session(name => 'two') as b \gset
select t.dblink_exec('ear', format('listen "pawl_%s"', x)) as x from unnest(array[:a, :b]) x \g /dev/null
select pawl.rest(:a) \g /dev/null
select is(t.heard($$select run_id::text from pawl.trigger('test.flow')$$), 'pawl_' || :a, 'the first one is notified');
select pawl.rest(:b) \g /dev/null
select is(pawl.drain_worker(:a), 'ok', 'it is to leave');
select is(t.heard($$select run_id::text from pawl.trigger('test.flow')$$), 'pawl_' || :b, 'the second one is notified');
select pawl.rest(:a) \g /dev/null
select is((select count(*) from generate_series(1, 20) where t.heard($$select run_id::text from pawl.trigger('test.flow')$$) <> 'pawl_' || :b), 0::bigint, 'also when the first one says again that it rests');
select t.dblink_disconnect('ear') as x \gset
select * from finish();
