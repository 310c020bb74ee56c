-- SPDX-License-Identifier: Apache-2.0
select plan(10);

select t.stop_clock() \g /dev/null
select pawl.create_workflow('a.flow') \g /dev/null
create function pg_temp.id(off interval) returns uuid language sql as $$ select pawl._id_make(pawl.now() + off) $$;
select lives_ok($$select pawl.trigger('a.flow', id => pg_temp.id('59 min'))$$, 'an hour ahead');
select lives_ok($$select pawl.trigger('a.flow', id => pg_temp.id('-59 min'))$$, 'an hour behind');
select throws_ok($$select pawl.trigger('a.flow', id => pg_temp.id('61 min'))$$, 'PW003', null, 'more ahead');
select throws_ok($$select pawl.trigger('a.flow', id => pg_temp.id('-61 min'))$$, 'PW003', null, 'more behind');
select throws_ok($$select pawl.trigger('a.flow', id => '00000000-0000-0000-0000-000000000000')$$, 'PW003', null, 'nothing at all');
select throws_ok($$select pawl.trigger('a.flow', id => 'ffffffff-ffff-ffff-ffff-ffffffffffff')$$, 'PW003', null, 'the greatest');
select throws_ok($$select pawl.trigger('a.flow', id => overlay(pawl.make_id()::text placing '4' from 15)::uuid)$$, 'PW003', null, 'another version');
select throws_ok($$select pawl.trigger('a.flow', id => overlay(pawl.make_id()::text placing 'c' from 20)::uuid)$$, 'PW003', null, 'another variant');
select throws_ok($$select pawl.trigger_many('a.flow', array['{}', '{}']::json[], ids => array[pawl.make_id(), pg_temp.id('2 hours')])$$, 'PW003', null, 'one of many');
select is((select count(*) from pawl_data.task), 2::bigint, 'two runs exist');

select * from finish();
