-- SPDX-License-Identifier: Apache-2.0
select plan(1);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
create temp table made (n int, run_id uuid);
insert into made select 1, run_id from pawl.trigger('a.flow', priority => 200);
select pawl.test_clock_advance('1 s') \g /dev/null
insert into made select 2, run_id from pawl.trigger('a.flow');
select pawl.test_clock_advance('1 s') \g /dev/null
insert into made select 3, run_id from pawl.trigger('a.flow', priority => 0);
select pawl.test_clock_advance('1 s') \g /dev/null
insert into made select 4, run_id from pawl.trigger('a.flow', priority => 100);
select pawl.test_clock_advance('1 s') \g /dev/null
insert into made select 5, run_id from pawl.trigger('a.flow', priority => 32767);
select is((select array_agg((select m.n from made m, t.one(:s + 0 * g) o where m.run_id = o.run_id) order by g) from generate_series(1, 5) g), '{3,2,4,1,5}', 'the default is 100');

select * from finish();
