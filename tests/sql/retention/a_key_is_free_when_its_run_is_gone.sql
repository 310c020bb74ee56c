-- SPDX-License-Identifier: Apache-2.0
-- A day is dropped with the keys of its runs: nobody is answered with a run that nobody finds.
select plan(4);
select (date_trunc('day', now() at time zone 'UTC') + interval '23 hours') at time zone 'UTC' as t0 \gset
select pawl.test_clock_set(:'t0') \g /dev/null
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select run_id as r from pawl.trigger('test.flow', '{"n": 1}', key => 'k') \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'r', :f, 'complete', null, '1') \g /dev/null
select is((select run_id from pawl.trigger('test.flow', '{"n": 1}', key => 'k')), :'r', 'the key stands for the run');
select t.later('15 days') \g /dev/null
update pawl_data.chore set due_at = 'infinity' where chore = 'keys';
do $$ begin
    for i in 1..200 loop
        perform pawl.test_clock_advance('15 min');
        perform pawl.housekeep();
        exit when not exists (select from pawl._runs(array[(select run_id from pawl_data.key)]));
    end loop;
end $$;
select throws_ok(format('select pawl.get_run(%L)', :'r'), 'PW001', null, 'the run is gone');
select is((select created from pawl.trigger('test.flow', '{"n": 1}', key => 'k')), true, 'and a trigger with its key makes another');
update pawl_data.key set run_id = :'r';
update pawl_data.chore set due_at = '-infinity' where chore = 'keys';
select pawl.housekeep() \g /dev/null
select is((select count(*) from pawl_data.key), 0::bigint, 'which housekeeping takes away as well');
select * from finish();
