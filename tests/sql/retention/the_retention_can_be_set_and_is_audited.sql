-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select is((select runs || ' ' || events from pawl.set_retention()), '14 days 7 days', 'the defaults');
select is((select count(*) from pawl.list_actions()), 0::bigint, 'asking is no act');
select is((select runs || ' ' || events from pawl.set_retention('3 days', by => 'ann')), '3 days 7 days', 'one of them');
select is((select runs || ' ' || events from pawl.set_retention(event_retention => '2 days')), '3 days 2 days', 'the other');
select is((select string_agg(what || ' ' || who, ', ' order by action_no) from pawl.list_actions()), 'set_retention ann, set_retention ' || session_user, 'audited');
select throws_ok($$select * from pawl.set_retention('59 min')$$, 'PW003', null, 'less than an hour');
select throws_ok($$select * from pawl.set_retention(event_retention => '-1 day')$$, 'PW003', null, 'a negative time');
select throws_ok($$select * from pawl.set_retention('1001 years')$$, 'PW003', null, 'more than anybody can count back from now');
select throws_ok($$select * from pawl.set_retention(event_retention => '1001 years')$$, 'PW003', null, 'of events as well');
select * from finish();
