-- SPDX-License-Identifier: Apache-2.0
-- Advisory locks have no access control: a login without rights may hold any of them. A statement that waits for one is cancelled after 20 s.
select plan(13);

set statement_timeout = '20s';
select t.session(lease => '1 hour') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select answer from pawl.release(:s, :'r', :f) \g /dev/null
select answer from t.one(:s) k, pawl.fail(:s, k.run_id, k.fence, '"x"', final => true) \g /dev/null
select run_id as w, fence as wf from t.held(:s) \gset
select 'anybody_' || current_database() as anybody \gset
create role :anybody login;
select t.other_holds(format('select set_config(''role'', %L, false)', :'anybody')) \g /dev/null
select x from t.dblink('other', format('
    select count(*) from (
        select pg_advisory_lock(hashtextextended(%L || chr(1) || topic || chr(1) || %L, 7)) from unnest(array[''orders'', ''waits'']) topic
        -- As it would be without the secret.
        union all select pg_advisory_lock((''x'' || left(encode(sha256(convert_to(%L || chr(1) || topic || chr(1) || %L, ''UTF8'')), ''hex''), 16))::bit(64)::bigint) from unnest(array[''orders'', ''waits'']) topic
        union all select pg_advisory_lock(hashtextextended(''pawl.partitions'', 0))
        union all select pg_advisory_lock(hashtextextended(''pawl.workflow.billing'', 0))
        union all select pg_advisory_lock(hashtextextended(''pawl.workflow.flow'', 0))
        union all select pg_advisory_lock(hashtextextended(%L, 11))
        union all select pg_advisory_lock(hashtextextended(%L, 12))
        union all select pg_advisory_lock(1885435756)
        union all select pg_advisory_lock(1886287724, n) from generate_series(1, 20) n
        union all select pg_advisory_lock(1886287725, n) from generate_series(1, 20) n) l', '', '42', '', '42', :'r', :s)) r (x text) \g /dev/null
-- Not only with them: after a week without housekeeping there are no partitions either.
do $$ declare v_name text; begin
    for v_name in select c.relname from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relispartition and c.relkind = 'r' loop
        if v_name !~ '^(run|step|audit|input)_' then execute format('drop table pawl_data.%I', v_name); end if;
    end loop;
end $$;
update pawl_data.setting set partitions_until = pawl.now() - interval '2 days';

select lives_ok('select answer from pawl.emit(''orders'', ''{}'', ''42'')', 'an event of a new topic and key');
select is((select answer from pawl.wait_event(:s, :'w', :wf, 'w', 'waits', '42')), 'ok', 'a wait for one');
select is((select woken from pawl.emit('waits', '{}', '42')), 1, 'which wakes the run');
select lives_ok('select pawl.create_workflow(''billing'')', 'a new workflow');
select lives_ok($$select change from pawl.apply_flow('{"flow": "flow", "steps": [{"step": "a"}]}')$$, 'a new flow');
select is((select answer from pawl.complete(:s, :'r', :f)), 'lease_lost', 'a late result');
select is((select answer from pawl.fork(:'r')), 'ok', 'a fork');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'a retry');
select is((select answer from pawl.kill(array[:'r'::uuid])), 'ok', 'its end');
select is((select answer from pawl.purge(array[:'r'::uuid])), 'ok', 'a purge');
select lives_ok('select run_id from pawl.trigger(''test.flow'', to_json(repeat(''x'', 5000)))', 'a trigger');
select lives_ok(format('select run_id from pawl.claim(%s, 20)', :s), 'and a large claim go on');
select lives_ok('select pawl.housekeep()', 'and housekeeping');

select t.dblink_disconnect('other') \g /dev/null
drop role :anybody;
select * from finish();
