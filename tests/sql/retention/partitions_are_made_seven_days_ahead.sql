-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.stop_clock();
create function last_day(parent text) returns date language sql as $$
    select max(to_date(right(c.relname, 8), 'YYYYMMDD')) from (select c.relname::text from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = parent::regclass offset 0) c
$$;
select is((select count(*) from unnest(array['run', 'step', 'input', 'audit', 'note', 'tag', 'event']) n where last_day('pawl_data.' || n) = (pawl.now() at time zone 'UTC')::date + 7), 7::bigint, 'after the install');
select t.later('1 day');
select is((select count(*) from unnest(array['run', 'step', 'input', 'audit', 'note', 'tag', 'event']) n where last_day('pawl_data.' || n) = (pawl.now() at time zone 'UTC')::date + 7), 7::bigint, 'a day later, by housekeeping');
select t.session() as s \gset
select pawl.test_clock_advance('30 days') \gset
-- A small input makes no partition, so the step is the first that needs one.
select run_id as r, fence as f from t.held(:s) \gset
select lives_ok(format('select t.answer(%s, %L, %s, ''step'', ''one#1'', ''1'')', :s, :'r', :f), 'after a month without housekeeping a step is committed');
select is((select count(*) from pawl_data.step p where p.run_id = :'r'), 1::bigint, 'and recorded');
select run_id as r, fence as f from t.held(:s, input => to_json(repeat('x', 5000))) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'ok', 'a run with a large input continues');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'and ends');
select is((select answer from pawl.emit('x')), 'ok', 'an event is stored');
select * from finish();
