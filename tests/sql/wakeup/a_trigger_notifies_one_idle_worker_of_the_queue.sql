-- SPDX-License-Identifier: Apache-2.0
-- Another session triggers, and hears what it is notified of itself.
select plan(10);
create function t.notified(statement text) returns bigint language plpgsql as $$
begin
    -- As if no worker had been notified just before.
    perform setval('pawl_data.bell_clock', 0);
    perform from t.dblink('ear', statement) r (x text);
    return (select count(*) from t.dblink_get_notify('ear'));
end $$;
select t.dblink_connect('ear', format('host=%s port=%s user=%s dbname=%L', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database())) as x \gset
select t.session(name => 'one') as s \gset
select t.session(name => 'two') as s2 \gset
select t.session('{other.*}', name => 'three') as s3 \gset
select pawl.create_workflow('test.flow'), pawl.create_workflow('other.flow') \gset
select count(*) as n from unnest(array[:s, :s2, :s3]) x, lateral pawl.claim(x) c \gset
select t.dblink_exec('ear', format('listen "pawl_%s"', x)) as x from unnest(array[:s, :s2, :s3]) x \g /dev/null
select is(t.notified($$select run_id::text from pawl.trigger('test.flow')$$), 0::bigint, 'nobody is idle: nothing is notified');
select count(*) as n from pawl.claim(:s, 10) c, lateral pawl.complete(:s, c.run_id, c.fence) \gset
select pawl.rest(:s), pawl.rest(:s2) \gset
select is((select count(*) from pawl.list_workers() where state = 'idle'), 2::bigint, 'two workers are idle');
select is(t.notified($$select run_id::text from pawl.trigger('test.flow')$$), 1::bigint, 'one notification, not two');
select is(t.notified($$select run_id::text from pawl.trigger('other.flow')$$), 1::bigint, 'another queue that they handle, too');
select is((select count(*) from pawl.claim(:s, 10)), 2::bigint, 'one of them claims');
select is((select state from pawl.list_workers() where session = :s), 'live', 'and is idle no more');
select pawl.leave(:s2) \gset
select is(t.notified($$select run_id::text from pawl.trigger('test.flow')$$), 0::bigint, 'nobody idle is left');
select pawl.rest(:s3) \gset
select is(t.notified($$select run_id::text from pawl.trigger('test.flow')$$), 0::bigint, 'an idle worker of another queue is not disturbed');
select is(t.notified($$select run_id::text from pawl.trigger('other.flow')$$), 1::bigint, 'one of the queue is');
select pawl.leave(:s3) \gset
select is(t.notified($$select run_id::text from pawl.trigger('other.flow')$$), 0::bigint, 'one that has left is not');
select * from finish();
