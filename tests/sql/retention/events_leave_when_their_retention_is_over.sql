-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.stop_clock();
select event_id as e from pawl.emit('x') \gset
do $$ begin for i in 1..7 loop perform t.later('1 day'); end loop; end $$;
select is((select count(*) from pawl_data.event), 1::bigint, 'for seven days it is kept');
do $$ begin for i in 1..3 loop perform t.later('1 day'); end loop; end $$;
select is((select count(*) from pawl_data.event), 0::bigint, 'then it leaves');
select is((select count(*) from pawl_data.topic), 0::bigint, 'and its meeting point with it');
select * from finish();
