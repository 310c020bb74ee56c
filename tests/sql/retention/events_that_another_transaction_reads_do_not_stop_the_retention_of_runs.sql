-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select pawl._make_partition(t, (pawl.now() at time zone 'UTC')::date - 60) from unnest(array['run', 'input', 'step', 'audit', 'note', 'tag', 'event']) t \g /dev/null
select to_char(pawl.now() at time zone 'UTC' - interval '60 days', 'YYYYMMDD') as day \gset
insert into pawl_data.event values (pawl._id_make(pawl.now() - interval '60 days'), pawl.now(), '', 't', '', '{}');
insert into pawl_data.note (run_id, note_no, task_no, at, kind, body) values (pawl._id_make(pawl.now() - interval '60 days'), 1, 0, pawl.now(), 'log', 'x');
select t.other_holds('select ''1''') \g /dev/null
select t.dblink_exec('other', format('lock table only pawl_data.event_%s in access share mode', :'day')) \g /dev/null
select pawl._empty_day(pawl.now()), pawl._empty_day(pawl.now()) \g /dev/null
select is(pg_relation_size(format('pawl_data.note_%s', :'day')), 0::bigint, 'the day of runs is emptied');
select isnt(pg_relation_size(format('pawl_data.event_%s', :'day')), 0::bigint, 'that of events waits');
select t.other_done() \g /dev/null
select pawl._empty_day(pawl.now()) \g /dev/null
select is(pg_relation_size(format('pawl_data.event_%s', :'day')), 0::bigint, 'until its reader has ended');
select * from finish();
