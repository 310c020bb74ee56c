-- SPDX-License-Identifier: Apache-2.0
-- A task opens waits and ends without having waited; its run goes on.
select plan(5);
select t.session() as s \gset
select pawl.create_flow('d.flow', max_attempts => 1) as c \gset
select pawl.add_step('d.flow', 'a') as c \gset
select pawl.add_step('d.flow', 'b') as c \gset
select run_id as r from pawl.trigger('d.flow', '1') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is((select string_agg(answer, ' ' order by item) from pawl.commit(:s, array[:'r', :'r', :'r']::uuid[], '{1,1,1}', '{signal,event,complete}', '{go#1,news#1,null}',
    '{null,null,1}', null, '{1000000,1000000,1000000}', null, array['{"signal": "go"}', '{"topic": "news"}', null])), 'ok ok ok', 'it ends');
select is((select count(*) from pawl_data.wait), 0::bigint, 'its waits go with it');
select is(pawl.signal(:'r', 'go'), 'stored', 'a signal finds nobody who waits');
select is((select answer || ' ' || woken from pawl.emit('news', '1')), 'ok 0', 'nor does an event');
select t.done(:s, :'r', 'b', '1') as c \gset
select is(t.state(:'r'), 'SUCCESS', 'and the run ends');
select * from finish();
