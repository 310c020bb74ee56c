-- SPDX-License-Identifier: Apache-2.0
-- The commit of a transaction that has notified fails while the queue of the server is full. Before PostgreSQL 17 the queue has 8 GB, so
-- the limit is moved here; tests/integration/hints.c fills a small queue.
select plan(5);
create function t.notified(statement text) returns bigint language plpgsql as $$
begin
    -- As if no worker had been notified just before.
    perform setval('pawl_data.bell_clock', 0);
    perform from t.dblink('ear', statement) r (x text);
    return (select count(*) from t.dblink_get_notify('ear'));
end $$;
select t.dblink_connect('ear', format('host=%s port=%s user=%s dbname=%L', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database())) as x \gset
select t.session() as s \gset
select pawl.create_workflow('test.flow') \gset
select count(*) as n from pawl.claim(:s) \gset
select t.dblink_exec('ear', format('listen "pawl_%s"', :s)) as x \gset
select pawl.rest(:s) \gset
select is(t.notified($$select run_id::text from pawl.trigger('test.flow')$$), 1::bigint, 'an empty queue: the idle worker is notified');
create or replace function pawl._notify_usage_max() returns double precision language sql immutable as 'select -1.0::double precision';
select is(t.notified($$select run_id::text from pawl.trigger('test.flow')$$), 0::bigint, 'a queue that fills up: a trigger does not notify');
select is(t.notified($$select run_id::text from pawl.trigger_many('test.flow', array['{}', '{}']::json[])$$), 0::bigint, 'neither does trigger_many');
select is(t.notified(format('select pawl.drain_worker(%s)', :s)), 0::bigint, 'neither does drain_worker');
select is((select count(*) from pawl.list_runs()), 4::bigint, 'every run was triggered');
select * from finish();
