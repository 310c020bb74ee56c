-- SPDX-License-Identifier: Apache-2.0
-- A paused run is not locked by its fork. Another session cancels and purges it before its records are copied.
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select answer from pawl.step(:s, :'r', :f, 'one') \g /dev/null
select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 hour') \g /dev/null
select t.other_holds('select ''x''') \g /dev/null
select t.dblink_exec('other', 'commit') \g /dev/null
create function public.meanwhile() returns trigger language plpgsql security definer set search_path to pg_catalog, pg_temp as $$
begin
    perform from t.dblink('other', format('select answer from pawl.cancel(array[%L::uuid])', current_setting('test.run'))) x (a text);
    perform from t.dblink('other', format('select answer from pawl.purge(array[%L::uuid])', current_setting('test.run'))) x (a text);
    return new;
end
$$;
create trigger meanwhile after insert on pawl_data.task for each row execute function public.meanwhile();
select set_config('test.run', :'r', false) \g /dev/null
select throws_ok(format('select answer from pawl.fork(%L, ''nap'')', :'r'), 'PW010', null, 'the fork says that it met a purge');
drop trigger meanwhile on pawl_data.task;
select is((select count(*) from pawl_data.task), 0::bigint, 'and leaves no run');
select is((select count(*) from pawl_data.step), 0::bigint, 'without records');
select is((select answer from pawl.fork(:'r')), 'not_found', 'sent again, it finds nothing');
select t.dblink_disconnect('other') \g /dev/null
select * from finish();
