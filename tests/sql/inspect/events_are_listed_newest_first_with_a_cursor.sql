-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select t.stop_clock();
select event_id as a from pawl.emit('shop.paid', '{"n": 1}', key => 'k1') \gset
select pawl.test_clock_advance('1 min') \gset
select event_id as b from pawl.emit('shop.sent', '{"n": 2}') \gset
select pawl.test_clock_advance('1 min') \gset
select event_id as c from pawl.emit('zoo', '{"n": 3}', tenant => 'acme') \gset
select is((select string_agg(payload ->> 'n', ' ') from pawl.list_events()), '3 2 1', 'newest first');
select is((select concat_ws(' ', topic, key, tenant, payload, emitted_at = pawl.now() - interval '2 min', next_cursor = event_id) from pawl.list_events(only_topic => 'shop.paid')), 'shop.paid k1  {"n": 1} t t', 'with all that is known of it');
select is((select string_agg(payload ->> 'n', ' ') from pawl.list_events('shop.*')), '2 1', 'of the topics that a pattern names');
select is((select string_agg(payload ->> 'n', ' ') from pawl.list_events(only_key => 'k1')), '1', 'of a key');
select is((select string_agg(payload ->> 'n', ' ') from pawl.list_events(only_tenant => 'acme')), '3', 'of a tenant');
select is((select string_agg(payload ->> 'n', ' ') from pawl.list_events(since => pawl.now() - interval '90 s')), '3 2', 'since a time');
select is((select string_agg(payload ->> 'n', ' ') from pawl.list_events(before => pawl.now() - interval '90 s')), '1', 'before one');
select is((select string_agg(payload ->> 'n', ' ') from pawl.list_events(max_rows => 2)), '3 2', 'a page');
select is((select string_agg(payload ->> 'n', ' ') from pawl.list_events(cursor => :'b')), '1', 'the next');
-- Ten thousand emits one by one take their time.
insert into pawl_data.event (event_id, emitted_at, tenant, topic, key, payload)
select pawl._event_id(pawl.now()), pawl.now(), '', 'busy', '', 'null' from generate_series(1, 10000);
select is((select count(*) || ' ' || count(event_id) || ' ' || bool_or(next_cursor is not null) from pawl.list_events('shop.paid')), '1 0 true', 'at most 10,000 are looked at; then there is a cursor and no event');
select * from finish();
