-- SPDX-License-Identifier: Apache-2.0
-- With a short retention of events the day before is taken away soon after midnight. If the clock goes back there, it is made again.
select plan(4);
select pawl.set_retention(event_retention => '1 hour') \g /dev/null
select (date_trunc('day', now() at time zone 'UTC') + interval '22 hours 30 minutes') at time zone 'UTC' as t0 \gset
select pawl.test_clock_set(:'t0') \g /dev/null
select pawl.housekeep() \g /dev/null
select is((select answer from pawl.emit('topic.a', '1')), 'ok', 'an event before midnight');
select pawl.test_clock_set(:'t0'::timestamptz + interval '3 hours') \g /dev/null
do $$ begin for i in 1..5 loop call pawl.tick(true); perform pawl.test_clock_advance('61 s'); end loop; end $$;
select is((select count(*) from pg_class where relname = 'event_' || to_char(:'t0'::timestamptz at time zone 'UTC', 'YYYYMMDD')), 0::bigint, 'its day is taken away after it');
select pawl.test_clock_set(:'t0'::timestamptz + interval '1 min') \g /dev/null
select is((select answer from pawl.emit('topic.a', '2')), 'ok', 'the clock is set back, and an event is taken');
select is((select count(*) from pawl.list_events()), 1::bigint, 'and found');
select * from finish();
