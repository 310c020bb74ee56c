-- SPDX-License-Identifier: Apache-2.0
-- A worker that is bound to a tenant passes on runs of that tenant alone. So a notification for one tenant must not keep back those for others.
select plan(14);
select t.ear(), t.ear('other') \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select t.session() as a \gset
select t.session() as b \gset
update pawl_data.worker set tenant = case session_id when :a then 'a' else 'b' end;
update pawl_data.setting set tenants_bound = true;
select pawl.rest(:a), pawl.rest(:b) \g /dev/null
select t.dblink_exec('ear', format('listen "pawl_%s"', x)) from unnest(array[:a, :b]) x \g /dev/null
create function pg_temp.micros() returns bigint language sql volatile as $$ select (date_part('epoch', clock_timestamp()) * 1000000)::bigint $$;
-- What a trigger of tenant b notifies so many microseconds after tenant p_of was the last, and the row for tenants was used. Again, if the
-- machine was slow.
create function pg_temp.heard(p_of text, us bigint, others bigint) returns text language plpgsql as $$
declare
    v_us bigint;
    v_heard text;
begin
    for n in 1..500 loop
        v_us := pg_temp.micros();
        perform setval('pawl_data.bell_clock', (v_us - us) << 12 | pawl._bell_mark(v_us - us, p_of));
        perform setval(c.c::regclass, (v_us - others) << 12) from unnest(array['1', '2', '3']) i cross join lateral (select 'pawl_data.tenant_bell_clock_' || i) c (c);
        perform from t.dblink('ear', $q$select run_id::text from pawl.trigger('test.flow', tenant => 'b')$q$) r (x text);
        v_heard := (select string_agg(n.notify_name, ' ') from t.dblink_get_notify('ear') n);
        exit when pg_temp.micros() < v_us + 30000;
    end loop;
    return v_heard;
end $$;
select is(pg_temp.heard('b', -500000, 60000000), null, 'just after a worker of the tenant was notified: not');
select is(pg_temp.heard('a', -500000, 60000000), 'pawl_' || :b, 'just after one of another tenant was: notified');
select t.dblink_exec('other', 'begin') \g /dev/null
select t.rung($$select 1::text from pawl_data.bell for update$$, 'other') \g /dev/null
select is(pg_temp.heard('b', -500000, 60000000), null, 'another transaction of the tenant is about to notify: not');
select is(pg_temp.heard('a', -500000, 60000000), 'pawl_' || :b, 'one of another tenant is: notified');
select isnt((select last_value >> 12 from pawl_data.bell_clock), 0::bigint, 'there is a clock');
select is((select pg_temp.micros() < last_value >> 12 from pawl_data.bell_clock), true, 'which still says when the other was');
select is((select count(*) from (values (pg_sequence_last_value('pawl_data.tenant_bell_clock_1')), (pg_sequence_last_value('pawl_data.tenant_bell_clock_2')), (pg_sequence_last_value('pawl_data.tenant_bell_clock_3'))) c (c)
    where c >> 12 > pg_temp.micros() - 30000000), 1::bigint, 'and one of three clocks for tenants');
select is(pg_temp.heard('a', -500000, -500000), null, 'not twice within 20 ms');
select t.rung($$select string_agg('1', '') from (select from pawl_data.tenant_bell for update) b$$, 'other') \g /dev/null
select is(pg_temp.heard('a', -500000, 25000), null, 'nor while a third is about to notify');
select is(pg_temp.heard('a', -500000, 1000000), 'pawl_' || :b, 'unless that takes long');
select t.dblink_exec('other', 'rollback') \g /dev/null
-- Without bound tenants a worker passes on runs of all tenants.
select t.dblink_exec('other', 'begin') \g /dev/null
select t.rung($$select 1::text from pawl_data.bell for update$$, 'other') \g /dev/null
update pawl_data.setting set tenants_bound = false;
select is(pg_temp.heard('a', -500000, 60000000), null, 'without bound tenants one transaction at a time notifies');
update pawl_data.setting set tenants_bound = true;
select t.dblink_exec('other', 'rollback') \g /dev/null
-- Passing on.
select t.session() as b2 \gset
update pawl_data.worker set tenant = 'b' where session_id = :b2;
select pawl.rest(:b2) \g /dev/null
select setval('pawl_data.bell_clock', 0) \g /dev/null
select is(pawl.pass_on(:b2), 1, 'a worker passes on');
select is((select last_value from pawl_data.bell_clock), 0::bigint, 'and does not say that the tenant''s transaction is about to notify');
update pawl_data.setting set tenants_bound = false;
select pawl.pass_on(:b2) \g /dev/null
select is((select last_value > 0 from pawl_data.bell_clock), true, 'without bound tenants it says that a worker was notified');
select * from finish();
