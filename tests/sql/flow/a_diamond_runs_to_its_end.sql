-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select t.flow('web.flow', '[["fetch"], ["words", "fetch"], ["links", "fetch"], ["report", "words", "links"]]');
select run_id as r from pawl.trigger('web.flow', '{"url": "x"}') \gset
select is(t.state(:'r'), 'QUEUED', 'it waits for a worker');
select is((select workflow || ' ' || input from pawl.claim(:s, 10)), 'web.flow/fetch {"run": {"url": "x"}}', 'the first step gets the input of the run');
select is(t.state(:'r'), 'RUNNING', 'a task of it is held');
select is(t.done(:s, :'r', 'fetch', '{"body": 1}'), 'ok', 'done');
select is((select string_agg(workflow || ' ' || (input ->> 'fetch'), ', ' order by task) from pawl.claim(:s, 10)), 'web.flow/words {"body": 1}, web.flow/links {"body": 1}', 'two side by side, with the output of the first');
select is(t.done(:s, :'r', 'words', '11'), 'ok', 'one of them');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'the last waits for the other');
select is(t.done(:s, :'r', 'links', '12') || (select input::jsonb::text from pawl.claim(:s, 10)), 'ok{"run": {"url": "x"}, "links": 12, "words": 11}', 'then it gets both');
select t.done(:s, :'r', 'report', '"all"') \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"report": "all"}', 'the output of the run is that of its last step');
select * from finish();
