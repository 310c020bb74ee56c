-- SPDX-License-Identifier: Apache-2.0
-- A subscription of a flow that was deleted is the first of its topic; another topic has events after it.
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w') \g /dev/null
select pawl.create_flow('gone') \g /dev/null
select pawl.add_step('gone', 'a') \g /dev/null
select pawl.create_subscription('bad', 't', 'gone'), pawl.create_subscription('good', 't', 'w'), pawl.create_subscription('other', 'u', 'w') \g /dev/null
select pawl.delete_flow('gone') \g /dev/null
select count(*) from generate_series(1, 300) n, lateral pawl.emit('t', to_json(n)) \g /dev/null
select count(*) from generate_series(1, 3) n, lateral pawl.emit('u', to_json(n)) \g /dev/null
do $$ begin for i in 1..20 loop call pawl.tick(true); end loop; end $$;
select is((select string_agg(n, ', ' order by n) from (select split_part(key, '/', 2) || ' ' || count(*) as n from pawl_data.task group by split_part(key, '/', 2)) c), 'good 300, other 3', 'the others start their runs');
select is((select (deferred, last_error)::text from pawl.list_subscriptions('bad')), '(300,"PW002 unknown workflow ""gone""")', 'it keeps its events and has its error');
select is((select count(*) from pawl.doctor() where what = 'subscription' and level = 'error' and found like '%subscription bad %unknown workflow "gone"%'), 1::bigint, 'doctor tells');
select is((select count(*) from pawl.doctor() where what = 'chore subscriptions'), 1::bigint, 'and names the piece');
-- Mended.
select pawl.create_workflow('gone') \g /dev/null
select pawl.test_clock_advance('30 s') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task where key like 'event/bad/%'), 0::bigint, 'it is tried again after a minute, not before');
select pawl.test_clock_advance('31 s') \g /dev/null
do $$ begin for i in 1..20 loop call pawl.tick(true); end loop; end $$;
select is((select count(distinct key) from pawl_data.task where key like 'event/bad/%'), 300::bigint, 'then all its runs start');
select is((select (deferred, last_error)::text from pawl.list_subscriptions('bad')), '(0,)', 'and no error is left');
select is((select count(*) from pawl_data.task), 603::bigint, 'each once');
-- One event that fails each time stops no later one.
create function public.fails_for_some() returns trigger language plpgsql as $$ begin if new.input::text = '"poison"' then raise 'poison'; end if; return new; end $$;
create trigger poison before insert on pawl_data.task for each row execute function public.fails_for_some();
select pawl.emit('u', '"poison"') \g /dev/null
do $$ begin for i in 1..5 loop call pawl.tick(true); end loop; end $$;
-- Events of one millisecond have ids in any order, and an event that comes last stops none.
select pawl.test_clock_advance('1 s') \g /dev/null
select count(*) from generate_series(11, 15) n, lateral pawl.emit('u', to_json(n)) \g /dev/null
do $$ begin for i in 1..5 loop call pawl.tick(true); perform pawl.test_clock_advance('61 s'); end loop; end $$;
select is((select count(*) from pawl_data.task where key like 'event/other/%'), 8::bigint, 'later events pass it');
select is((select deferred from pawl.list_subscriptions('other')), 1::bigint, 'it is kept');
drop trigger poison on pawl_data.task;
do $$ begin for i in 1..5 loop call pawl.tick(true); perform pawl.test_clock_advance('61 s'); end loop; end $$;
select is((select count(*) from pawl_data.task where key like 'event/other/%'), 9::bigint, 'until it does not fail');
-- The clock was days ahead when it failed.
update pawl_data.subscription set retry_at = pawl.now() + interval '3 days', last_error = 'x' where name = 'other';
select pawl.emit('u', '1') \g /dev/null
do $$ begin for i in 1..5 loop call pawl.tick(true); end loop; end $$;
select is((select count(*) from pawl_data.task where key like 'event/other/%'), 10::bigint, 'a clock that was set back keeps nothing');
select * from finish();
