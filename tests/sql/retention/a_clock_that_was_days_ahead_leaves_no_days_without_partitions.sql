-- SPDX-License-Identifier: Apache-2.0
-- A clock that is a year ahead for a moment leaves marks and due times of then. Days between now and then have no partitions,
-- and chores would be done in a year.
select plan(12);

select t.session() as s \gset
select t.run() \g /dev/null
create function until() returns int language sql as $$
    select (s.partitions_until at time zone 'UTC')::date - (pawl.now() at time zone 'UTC')::date from pawl_data.setting s
$$;
select pawl.test_clock_advance('1 year') \g /dev/null
select pawl.register('ahead', '{*}') as r \gset
select pawl.housekeep() \g /dev/null
select pawl.housekeep() \g /dev/null
insert into pawl_data.delivery (event_id, tenant, after, due_at) values (gen_random_uuid(), '', gen_random_uuid(), pawl.now());
select pawl.test_clock_advance('- 1 year') \g /dev/null
select cmp_ok(until(), '>', 300, 'the mark of partitions is far ahead');
select is((select count(*) from pawl_data.chore c where c.due_at > pawl.now() + interval '1 day'), (select count(*) from pawl_data.chore where chore <> 'tables'), 'all chores are due far ahead');
select cmp_ok((select to_timestamp(c.position::float8) from pawl_data.chore c where c.chore = 'rollup'), '>', pawl.now() + interval '1 day', 'and runs are counted until then');

do $$ begin execute 'drop table pawl_data.event_' || to_char(pawl.now() at time zone 'UTC', 'YYYYMMDD'); end $$;
select lives_ok('select answer from pawl.emit(''x'')', 'an event makes the partition that it needs');
select cmp_ok(until(), '>', 300, 'and leaves the mark');
select pawl.housekeep() \g /dev/null
select is(until(), 8, 'housekeeping puts the mark right');
-- One call does ten chores at most.
select pawl.housekeep() \g /dev/null
select is((select count(*) from pawl_data.chore c where c.due_at > pawl.now() + interval '10 min' and c.due_at < 'infinity' and c.chore <> 'tables'), 0::bigint, 'whose chores have all been done');
select cmp_ok((select to_timestamp(c.position::float8) from pawl_data.chore c where c.chore = 'rollup'), '<', pawl.now(), 'runs that end now are counted');
select is((select count(*) from pawl_data.delivery), 0::bigint, 'and the delivery');

update pawl_data.setting set partitions_until = 'infinity';
update pawl_data.chore set due_at = 'infinity';
select pawl.housekeep() \g /dev/null
select pawl.trigger('test.flow') \g /dev/null
select is((select s.partitions_until || ' ' || (select count(*) from pawl_data.chore c where c.due_at = 'infinity') from pawl_data.setting s), 'infinity ' || (select count(*) from pawl_data.chore), 'infinity is off');
update pawl_data.setting set partitions_until = '-infinity';
update pawl_data.chore set due_at = '-infinity';
select pawl.housekeep() \g /dev/null

-- Two weeks, with a worker.
do $$
declare
    v_session bigint;
begin
    for i in 1..14 loop
        perform pawl.test_clock_advance('1 day');
        v_session := t.session();
        perform pawl.housekeep();
    end loop;
end
$$;
select t.session() as s \gset
select run_id as r, fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'ok', 'two weeks later a step is recorded');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'and a run ends');

select * from finish();
