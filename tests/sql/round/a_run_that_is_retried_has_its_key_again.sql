-- SPDX-License-Identifier: Apache-2.0
-- A key that holds while its run has not ended is freed at the end; a run that lives again has it again, or there would be two.
select plan(57);

select t.session() as s \gset
select pawl.create_workflow('a.flow', max_attempts => 1) \g /dev/null
create function pg_temp.again(key text, input json default '{}', active boolean default true, workflow text default 'a.flow')
returns text language sql as $$
    select concat_ws(' ', t.run_id, t.created) from pawl.trigger(workflow, input, key, key_while_active => active) t
$$;
create function pg_temp.retry(run uuid)
returns text language sql as $$
    select r.answer from pawl.retry(array[run]) r
$$;
create function pg_temp.of(key text)
returns text language sql as $$
    select string_agg(concat_ws(' ', k.run_id, k.expires_at), ', ') from pawl_data.key k where k.key = $1
$$;

-- Of one that failed.
select run_id as r from pawl.trigger('a.flow', '{"a":  1}', 'k', key_while_active => true) \gset
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'fail', null, '{}', '{"final": true}'), 'ok', 'it fails');
select is(pg_temp.of('k'), null, 'its key is free');
select is(pg_temp.retry(:'r'), 'ok', 'it is retried');
select is(pg_temp.of('k'), :'r' || ' infinity', 'and has its key again, until it ends');
select is(pg_temp.again('k', '{"a":  1}'), :'r' || ' f', 'a trigger with the key finds it');
select is(pg_temp.retry(:'r'), 'already', 'retried twice');
select throws_ok($$select pg_temp.again('k', '{"a": 2}')$$, 'PW004', null, 'another input is refused');
select is((select r.created from pawl.trigger('a.flow', '{"a":  1}', 'k', id => :'r', key_while_active => true) r), false, 'the first call, sent again,');
select is(pg_temp.of('k'), :'r' || ' infinity', 'does not free the key');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'fail', null, '{}', '{"final": true}'), 'ok', 'it fails again');
select is(pg_temp.of('k'), null, 'its key is free again');
select is(pg_temp.retry(:'r'), 'ok', 'it is retried once more');
select is(pg_temp.of('k'), :'r' || ' infinity', 'and has its key once more');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'it ends well');
select is(pg_temp.of('k'), null, 'its key is free');
select is(split_part(pg_temp.again('k', '{"b": 1}'), ' ', 2), 't', 'for another run');

-- While another run has the key nothing is opened.
select run_id as x from pawl.trigger('a.flow', '1', 'o', key_while_active => true) \gset
select pawl.cancel(array[:'x'::uuid]) \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select run_id as y from pawl.trigger('a.flow', '2', 'o', key_while_active => true) \gset
select is(pg_temp.retry(:'x'), 'refused', 'another run has the key');
select is(t.state(:'x'), 'CANCELLED', 'the run has ended still');
select is(t.audit(:'x'), 'cancel', 'nothing else is in its audit');
select is(pg_temp.of('o'), :'y' || ' infinity', 'and the key stands for the other');
select is((select string_agg(r.answer, ' ') from pawl.retry(array[:'x', :'y', :'r']::uuid[]) r), 'refused already refused', 'among others, too');
select pawl.cancel(array[:'y'::uuid]) \g /dev/null
select is((select string_agg(r.answer, ' ') from pawl.retry(array[:'y', :'x']::uuid[]) r), 'refused ok', 'of two in one call one gets it');
select is(pg_temp.of('o'), :'x' || ' infinity', 'the older one');
select is(t.work(:s), 2, 'work is done');
select is(t.state(:'x'), 'SUCCESS', 'it has ended');
select is(pg_temp.retry(:'y'), 'ok', 'then the other can be retried');
select is(pg_temp.of('o'), :'y' || ' infinity', 'and has the key');
select is(t.work(:s), 1, 'it ends');

-- A key that another run has as long as it is retained, and one whose time is over.
select run_id as x from pawl.trigger('a.flow', '1', 'p', key_while_active => true) \gset
select pawl.cancel(array[:'x'::uuid]) \g /dev/null
select run_id as y from pawl.trigger('a.flow', '2', 'p') \gset
select is(t.work(:s), 1, 'another run with the key, which holds longer than it, has ended');
select is(pg_temp.retry(:'x'), 'refused', 'it has the key still');
select is(pg_temp.of('p'), :'y', 'as before');
select run_id as x from pawl.trigger('a.flow', '1', 'q', key_while_active => true) \gset
select pawl.cancel(array[:'x'::uuid]) \g /dev/null
select pawl.trigger('a.flow', '2', 'q', key_ttl => '1 min') \g /dev/null
select is(pg_temp.retry(:'x'), 'refused', 'another run has it for a minute');
select pawl.test_clock_advance('1 min') \g /dev/null
select is(pg_temp.retry(:'x'), 'ok', 'which is over');
select is(pg_temp.again('q', '1'), :'x' || ' f', 'so the retried one has it');
select pawl.cancel(array(select r.run_id from pawl.list_runs(only_status => 'QUEUED') r)) \g /dev/null

-- Keys that hold otherwise are as they were.
select run_id as x from pawl.trigger('a.flow', '1', 'l') \gset
select pawl.cancel(array[:'x'::uuid]) \g /dev/null
select is(pg_temp.retry(:'x'), 'ok', 'one that holds as long as its run is retained');
select is(pg_temp.of('l'), :'x', 'holds as long');
select run_id as x from pawl.trigger('a.flow', '1', 'm', key_ttl => '1 min') \gset
select pg_temp.of('m') as m \gset
select pawl.cancel(array[:'x'::uuid]) \g /dev/null
select is(pg_temp.retry(:'x'), 'ok', 'one with a time of its own');
select is(pg_temp.of('m'), :'m', 'keeps it');
select pawl.test_clock_advance('1 min') \g /dev/null
select is(split_part(pg_temp.again('m', '2'), ' ', 2), 't', 'and is free then, although its run lives');
select pawl.cancel(array[:'x'::uuid]) \g /dev/null
select is(pg_temp.retry(:'x'), 'refused', 'while another run that lives has it');
select pawl.cancel(array(select r.run_id from pawl.list_runs(only_status => 'QUEUED') r)) \g /dev/null

-- A large input, after more than a day.
select run_id as x from pawl.trigger('a.flow', to_json(repeat('x', 5000)), 'n', key_while_active => true) \gset
select t.later('30 hours') \g /dev/null
select pawl.cancel(array[:'x'::uuid]) \g /dev/null
select is((select count(*) from pawl_data.run_kept k where k.run_id = :'x' and k.key_freed), 1::bigint, 'its records are kept apart');
select is(pg_temp.retry(:'x'), 'ok', 'it is retried');
select is(pg_temp.again('n', to_json(repeat('x', 5000))), :'x' || ' f', 'the same input finds it');
select throws_ok($$select pg_temp.again('n', to_json(repeat('x', 5001)))$$, 'PW004', null, 'another is refused');
select pawl.cancel(array[:'x'::uuid]) \g /dev/null

-- A flow.
select t.flow('two', '[["a"], ["b", "a"]]') \g /dev/null
select t.session() as s \gset
select run_id as x from pawl.trigger('two', '{"z": 0}', 'k', key_while_active => true) \gset
select pawl.cancel(array[:'x'::uuid]) \g /dev/null
select is(pg_temp.retry(:'x'), 'ok', 'a flow');
select is(pg_temp.again('k', '{"z": 0}', workflow => 'two'), :'x' || ' f', 'has its key again');
select is(t.work(:s), 2, 'it goes on');
select is(t.state(:'x') || coalesce(pg_temp.of('k'), ''), 'SUCCESS', 'to its end, and its key is free');

-- A rollback that is opened again.
select run_id as x from pawl.trigger('a.flow', '1', 'u', key_while_active => true) \gset
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'x', :f, 'begin', 'a#1', null, '{"undo": {"handler": "back"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.fail(:s, :'x', :f, '{}', true)), 'ok', 'its run fails');
select is(pg_temp.of('u'), :'x' || ' infinity', 'and has its key while it rolls back');
select fence as f from t.one(:s) \gset
select is((select answer from pawl.fail(:s, :'x', :f, '{}', true)), 'ok', 'the undo fails');
select is(pg_temp.of('u'), null, 'the key is free');
select run_id as y from pawl.trigger('a.flow', '2', 'u', key_while_active => true) \gset
select is((select answer from pawl.rollback_retry(array[:'x'::uuid])), 'refused', 'another run has it');
select is(pawl.rollback_skip(:'x', 'a#1'), 'refused', 'a skip opens nothing either');
select pawl.cancel(array[:'y'::uuid]) \g /dev/null
select is((select answer from pawl.rollback_retry(array[:'x'::uuid])), 'ok', 'when that has ended the rollback goes on');
select is(pg_temp.again('u', '1'), :'x' || ' f', 'and its run has the key');
select * from finish();
