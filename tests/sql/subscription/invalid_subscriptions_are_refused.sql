-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w'), pawl.create_workflow('crontab.x') \g /dev/null
select throws_ok($$select pawl.create_subscription('Bad Name', 't', 'w')$$, 'PW003', null, 'the name');
select throws_ok($$select pawl.create_subscription('a/b', 't', 'w')$$, 'PW003', null, 'a slash would make its keys ambiguous');
select throws_ok($$select pawl.create_subscription('s', '', 'w')$$, 'PW003', null, 'no topic');
select throws_ok($$select pawl.create_subscription('s', repeat('x', 201), 'w')$$, 'PW003', null, 'a long topic');
select throws_ok($$select pawl.create_subscription('s', 't', 'w', key => repeat('x', 501))$$, 'PW003', null, 'a long key');
select throws_ok($$select pawl.create_subscription('s', 't', 'w', match => '[1]')$$, 'PW003', null, 'a match that is no object');
select throws_ok($$select pawl.create_subscription('s', 't', 'w', match => '{"/a": {"b": 1}}')$$, 'PW003', null, 'a match of no scalar');
select throws_ok($$select pawl.create_subscription('s', 't', 'w', input => 'all')$$, 'PW003', null, 'the input');
select throws_ok($$select pawl.create_subscription('s', 't', 'gone')$$, 'PW002', null, 'the workflow');
select throws_ok($$select pawl.create_subscription('s', 't', 'crontab.x')$$, 'PW003', null, 'a workflow whose input is a command');
select throws_ok($$select pawl.trigger('w', key => 'event/s/1')$$, 'PW003', null, 'no other run has a key of a subscription');
select throws_ok($$select pawl.trigger_many('w', array['{}'::json], array['event/s/1'])$$, 'PW003', null, 'nor one of many');
select lives_ok($$select pawl.create_subscription('s' || n, 't', 'w') from generate_series(1, 100) n$$, 'a topic has 100 subscriptions');
select throws_ok($$select pawl.create_subscription('s101', 't', 'w')$$, 'PW007', null, 'and no more');
select lives_ok($$select pawl.create_subscription('s101', 't2', 'w')$$, 'another topic has others');
select is((select count(*) from pawl.list_subscriptions(only_topic => 't2')), 1::bigint, 'which are listed by topic');
select is((select count(*) from pawl.list_subscriptions('s1*')), 13::bigint, 'by the beginning of their names');
select is((select count(*) from pawl.list_subscriptions(only_workflow => 'gone')), 0::bigint, 'by workflow');
select is((select string_agg(subscription, ' ') from pawl.list_subscriptions(cursor => (select max(next_cursor) from pawl.list_subscriptions('s99')))), 's100 s101', 'and page by page');
select * from finish();
