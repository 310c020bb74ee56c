-- SPDX-License-Identifier: Apache-2.0
-- A hundred limits are enforced in a round. A hundred whose parent is locked used to be the same ones in every round.
select plan(5);

set statement_timeout = '60s';
select t.session(lease => '1 day') as w \gset
select pawl.create_workflow('kid.v', run_timeout => '1 min') \g /dev/null
select pawl.create_workflow('lone.v', run_timeout => '2 min') \g /dev/null
select run_id as p, fence as f from t.held(:w) \gset
select is((select string_agg(distinct t.answer(:w, :'p', :f, 'child', 'k#' || n, '{}', '{"workflow": "kid.v"}', n), ' ') from generate_series(1, 120) n), 'ok', 'a parent of many');
select run_id as lone from pawl.trigger('lone.v') \gset
select t.other_holds(format('select pawl.signal(%L, ''x'')', :'p')) \g /dev/null
select t.later('3 min', :w) \g /dev/null
select t.later('100 ms', :w) \g /dev/null
select is(t.state(:'lone'), 'ERROR', 'another run ends at its time limit');
select is((select count(*) from pawl_data.run r where r.run_id <> :'lone'), 0::bigint, 'while those whose parent is locked cannot');
select t.other_done() \g /dev/null
select t.later('2 s', :w) \g /dev/null
select t.later('100 ms', :w) \g /dev/null
select is((select count(*) from pawl_data.run r where r.run_id <> :'lone'), 120::bigint, 'they end soon after that transaction');
select is((select count(*) from pawl_data.wait w where w.kind = 'l'), 0::bigint, 'and leave no limit behind');

select * from finish();
