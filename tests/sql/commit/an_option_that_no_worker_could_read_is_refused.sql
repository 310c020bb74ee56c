-- SPDX-License-Identifier: Apache-2.0
-- libpawl reads JSON of a bounded depth. A step recorded with more could never be claimed again, so that its run would never end.
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create function pg_temp.option(depth int) returns json language sql as
    $$ select format('{"undo": {"handler": "h", "x": %s%s}}', repeat('[', depth), repeat(']', depth))::json $$;
select is(t.answer(:s, :'r', :f, 'begin', 'a#1', null, pg_temp.option(200)), 'refused', 'the undo of a step');
select is(t.answer(:s, :'r', :f, 'signal', 'b#1', null, format('{"form": %s%s}', repeat('[', 200), repeat(']', 200))::json), 'refused', 'the form of an approval');
select is(t.answer(:s, :'r', :f, 'begin', 'a#1', null, pg_temp.option(50)), 'ok', 'a worker can read this one');
select is(t.state(:'r'), 'RUNNING', 'the run continues');

select * from finish();
