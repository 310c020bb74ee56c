-- SPDX-License-Identifier: Apache-2.0
select plan(9);

select t.stop_clock() \g /dev/null
select pawl.create_workflow('a.flow') \g /dev/null
select run_id as r from pawl.trigger('a.flow') \gset
select is(substr(:'r', 15, 1), '7', 'the version');
select matches(substr(:'r', 20, 1), '[89ab]', 'the variant');
select is(('x' || replace(substr(:'r', 1, 13), '-', ''))::bit(48)::bigint, (date_part('epoch', pawl.now()) * 1000)::bigint, 'milliseconds of the database clock');
select is(pawl.slot_of('00000000-0000-7000-8000-000000000000'), 0, 'the 10 bits after the variant: none set');
select is(pawl.slot_of('00000000-0000-7000-bff0-000000000000'), 1023, 'all set');
select is(pawl.slot_of('ffffffff-ffff-7fff-800f-ffffffffffff'), 0, 'all others set');
select is(pawl.slot_of('00000000-0000-7000-a000-000000000000'), 512, 'the first of them is the highest');
select ok((select count(distinct pawl.slot_of(pawl.make_id())) > 500 and min(pawl.slot_of(pawl.make_id())) < 50 and max(pawl.slot_of(pawl.make_id())) > 970 from generate_series(1, 1000)), 'else random');
-- From a whole millisecond: half of one may be rounded up, and half of the next one down.
select pawl.test_clock_set(date_trunc('milliseconds', pawl.now())) \g /dev/null
select ok((select bool_and(b.id > a.id) from (select pawl.make_id() as id) a, lateral (select pawl.test_clock_advance('1 ms')) x, lateral (select pawl.make_id() as id) b), 'a later one is greater');

select * from finish();
