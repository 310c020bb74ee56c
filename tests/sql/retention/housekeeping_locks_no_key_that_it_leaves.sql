-- SPDX-License-Identifier: Apache-2.0
-- The end of a run waits for the row of the key that it frees: a key that stays must not be locked for as long as somebody's block is open.
select plan(3);
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.trigger('test.flow', key => 'k' || n, key_while_active => true) from generate_series(1, 3) n \g /dev/null
select pawl.trigger('test.flow', key => 'old', key_ttl => '1 h') \g /dev/null
select t.later('2 h') \g /dev/null
update pawl_data.chore set due_at = case when chore = 'keys' then '-infinity' else 'infinity' end::timestamptz;
begin;
select pawl._do_chore(pawl.now(), false) \g /dev/null
select is((select count(*) from pawl_data.key k where k.xmax <> 0), 0::bigint, 'none that stays is locked');
select is((select count(*) from pawl_data.key), 3::bigint, 'the one whose time is over has gone');
commit;
select is((select due_at - pawl.now() from pawl_data.chore where chore = 'keys'), '10 min'::interval, 'and the walk is at its end');
select * from finish();
