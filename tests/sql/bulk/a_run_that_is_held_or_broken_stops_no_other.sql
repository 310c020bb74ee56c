-- SPDX-License-Identifier: Apache-2.0
-- Runs that another transaction holds get their turn at the end; a run that fails is counted.
select plan(12);
select t.session() as s \gset
select pawl.create_workflow('b.flow') \g /dev/null
select count(*) from pawl.trigger_many('b.flow', array_fill('{}'::json, array[20])) \g /dev/null
select t.later('1 s', :s);
select run_id as held from pawl_data.task order by run_id limit 1 offset 5 \gset
select t.other_holds(format('select run_id::text from pawl_data.task where run_id = %L for update', :'held')) \g /dev/null
select pawl.begin_bulk('cancel', '{}', 1000) as bulk \gset
select t.later('0.1 s', :s);
select results_eq($$select state, handled, waiting from pawl.list_bulks()$$, $$values ('running', 19::bigint, 1)$$, 'the others are cancelled');
select t.later('2 s', :s);
select results_eq($$select state, handled, waiting from pawl.list_bulks()$$, $$values ('running', 19::bigint, 1)$$, 'it is still held');
select t.other_done() \g /dev/null
select t.later('2 s', :s);
select results_eq($$select state, handled, waiting from pawl.list_bulks()$$, $$values ('done', 20::bigint, 0)$$, 'it gets its turn');
select is(t.state(:'held'), 'CANCELLED', 'and is cancelled');

-- One that cannot be purged: a trigger of the owner's, as an error that comes from elsewhere.
select run_id as broken from pawl_data.run order by run_id limit 1 offset 3 \gset
create function t.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
select format('create trigger refuse before delete on %s for each row when (old.run_id = %L) execute function t.refuse()',
    (select tableoid::regclass from pawl_data.run where run_id = :'broken'), :'broken') \gexec
select pawl.begin_bulk('purge', '{}', 1000) as bulk \gset
select t.later('0.1 s', :s), t.later('2 s', :s) \g /dev/null
select results_eq($$select state, answers::text from pawl.list_bulks(max_rows => 1)$$, $$values ('done', '{"ok": 19, "failed": 1}')$$, 'the others are purged');
select matches((select last_error from pawl.list_bulks(max_rows => 1)), '^run ' || :'broken' || ': P0001 no', 'and the error is shown');
-- A bulk that cannot be continued at all.
update pawl_data.bulk set filter = '{"since": "soon"}', ended_at = null, due_at = pawl.now() where bulk_no = :bulk;
select pawl.begin_bulk('purge', '{}', 1000) as next \gset
-- psql's variables are not read within dollar quotes.
select format($$select t.later(%L, %L), t.later('2 s', %2$L)$$, '0.1 s', :s) as two_rounds \gset
select lives_ok(:'two_rounds', 'housekeeping goes on');
select lives_ok(:'two_rounds', 'and goes on');
select is((select state from pawl.list_bulks(max_rows => 1)), 'done', 'stops no other bulk');
select matches((select last_error from pawl.list_bulks() where bulk = :bulk), 'soon', 'and shows its error');
-- Retention.
select t.later('15 days', null);
select pawl._next_bulk(pawl.now(), null) \g /dev/null
select is((select count(*) from pawl_data.bulk where ended_at is not null), 0::bigint, 'old bulks are forgotten');
select is((select count(*) from pawl_data.bulk), 1::bigint, 'but not one that has not ended');
select * from finish();
