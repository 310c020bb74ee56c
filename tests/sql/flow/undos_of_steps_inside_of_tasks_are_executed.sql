-- SPDX-License-Identifier: Apache-2.0
select plan(19);
create function pg_temp.begin(session bigint, run uuid, task int, name text) returns text language sql as $$
    select answer
    from pawl.commit(session, array[run], array[(select k.fence from pawl_data.task k where k.run_id = run and k.task_no = task)], '{begin}', array[name],
        null, null, array[task], null, array['{"undo": {"handler": "un' || split_part(name, '#', 1) || '"}}'])
$$;
create function pg_temp.undos(record json) returns text language sql as $$
    select string_agg(concat_ws(' ', u ->> 'name', u -> 'undo' ->> 'handler', case when u ->> 'uncertain' = 'true' then '?' else u ->> 'output' end), ', ' order by n)
    from json_array_elements(record -> 'undos') with ordinality x (u, n)
$$;
select t.session() as s \gset
-- No step of the flow has an undo but one.
select pawl.create_flow('in.flow', max_attempts => 1) as c \gset
select pawl.add_step('in.flow', 'book', '{}') as c \gset
select pawl.add_step('in.flow', 'each', '{book}', '{"map": "book", "undo": "uneach"}') as c \gset
select pawl.add_step('in.flow', 'pay', '{each}') as c \gset
select pawl.create_flow('plain.flow', max_attempts => 1) as c \gset
select pawl.add_step('plain.flow', 'a', '{}') as c \gset
select pawl.add_step('plain.flow', 'b', '{}') as c \gset

select run_id as r from pawl.trigger('in.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(pg_temp.begin(:s, :'r', 1000000, 'train#1') || ' ' || pg_temp.begin(:s, :'r', 1000000, 'hotel#1'), 'ok ok', 'a task begins two steps');
select is((select answer from pawl.step(:s, :'r', 1, 'train', '7', 1000000)), 'ok', 'and ends one');
select is(t.done(:s, :'r', 'book', '[1, 2]'), 'ok', 'the task is done');
select count(*) from pawl.claim(:s, 10) \gset
select is(pg_temp.begin(:s, :'r', 2000002, 'train#1'), 'ok', 'a task of a map begins a step of the same name');
select t.done(:s, :'r', 'each', '10', 0), t.done(:s, :'r', 'each', '20', 1) \g /dev/null
select count(*) from pawl.claim(:s, 10) \gset
select is(t.failed(:s, :'r', 'pay', '{"message": "no money"}'), 'ok', 'the last step fails');
select fence, record from pawl.claim(:s, 10) \gset
select is(pg_temp.undos(:'record'), 'each/2/train#1 untrain ?, each#2 uneach 20, each#1 uneach 10, book/1/hotel#1 unhotel ?, book/1/train#1 untrain 7',
    'the steps inside of a task are undone before it, the last first');
select is((select answer || ' ' || reason from pawl.complete(:s, :'r', :fence)), 'refused not undone yet: ["each/2/train#1", "each#2", "each#1", "book/1/hotel#1", "book/1/train#1"]', 'none is forgotten');
select is((select string_agg(answer, ' ') from pawl.commit(:s, array_fill(:'r'::uuid, array[3]), array_fill(:fence, array[3]), '{step,step,step}', '{rollback:each/2/train#1,rollback:each#2,rollback:each#1}', '{1,1,1}')), 'ok ok ok', 'some are undone');
select is((select answer from pawl.fail(:s, :'r', :fence, '{"message": "no hotel"}', true)), 'ok', 'one fails');
select is((select error ->> 'not_undone' from pawl.result(:'r')), '["book/1/hotel#1", "book/1/train#1"]', 'the error says which are left');
select is(pawl.rollback_skip(:'r', 'hotel#1'), 'refused', 'that is no name of one');
select is(pawl.rollback_skip(:'r', 'book/1/hotel#1'), 'ok', 'an operator skips it');
select is((select pg_temp.undos(record) from pawl.claim(:s, 10)), 'book/1/train#1 untrain 7', 'and the last one is left');

-- A flow without undos.
select run_id as r from pawl.trigger('plain.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select pg_temp.begin(:s, :'r', 1000000, 'train#1'), t.done(:s, :'r', 'a', '1') \g /dev/null
select is(t.failed(:s, :'r', 'b', '"no"'), 'ok', 'another task fails');
select is((select pg_temp.undos(record) from pawl.claim(:s, 10)), 'a/1/train#1 untrain ?', 'a step inside of one that is done is undone');

-- A worker that is lost.
select run_id as r from pawl.trigger('plain.flow', '{}') \gset
select t.session('{plain.flow/a}') as dead \gset
select count(*) from pawl.claim(:dead, 10) \gset
select is(pg_temp.begin(:dead, :'r', 1000000, 'train#1'), 'ok', 'a flow without undos has a task that begins a step with one');
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'b', '"no"') as c \gset
select t.later('31 s', :s) \g /dev/null
select is((select pg_temp.undos(record) from pawl.claim(:s, 10)), 'a/1/train#1 untrain ?', 'it is undone when the task is lost');

-- A name that leaves no room.
select run_id as r from pawl.trigger('plain.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(pg_temp.begin(:s, :'r', 1000000, repeat('x', 100) || '/' || repeat('x', 100) || '/' || repeat('y', 23) || '#1'), 'ok', 'a long name');
select is(pg_temp.begin(:s, :'r', 2000000, repeat('x', 100) || '/' || repeat('x', 100) || '/' || repeat('y', 24) || '#1'), 'refused', 'a longer one');
select * from finish();
