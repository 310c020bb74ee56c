-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select pawl.create_flow('p.flow') as c \gset
select pawl.add_step('p.flow', 'a') as c \gset
select pawl.add_step('p.flow', 'kid', '{a}', '{"workflow": "kid.flow"}') as c \gset
select pawl.add_step('p.flow', 'kids', '{a}', '{"workflow": "kid.flow", "map": "a"}') as c \gset
select pawl.add_step('p.flow', 'end', '{kid,kids}') as c \gset
select run_id as r from pawl.trigger('p.flow', '5') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'r', 'a', '[1, 2]') as c \gset
select is(t.state(:'r'), 'PAUSED child', 'it waits for its children');
select matches(pawl.why(:'r'), 'Step kid: waiting for child run', 'and says so');
select is((select count(*) from pawl.list_runs('kid.flow') where parent_id = :'r'), 3::bigint, 'three children');
select is((select string_agg(input::jsonb::text, '; ' order by input::text desc) from pawl.claim(:s, 10)), '{"a": [1, 2], "run": 5}; {"run": 5, "item": 2, "index": 1}; {"run": 5, "item": 1, "index": 0}', 'each with its input');
select string_agg(answer, ' ') as a from (select (pawl.complete(:s, h.run_id, h.fence, '"k"')).answer from pawl.held(:s) h) x \gset
select is(:'a'::text, 'ok ok ok', 'they end');
select is((select input::jsonb - 'run' from pawl.claim(:s, 10)), '{"kid": "k", "kids": ["k", "k"]}', 'and their outputs are those of the steps');
select t.done(:s, :'r', 'end', '1') as c \gset
select is(t.state(:'r'), 'SUCCESS', 'done');
select is((select count(*) from pawl_data.wait), 0::bigint, 'no wait is left');
select * from finish();
