-- SPDX-License-Identifier: Apache-2.0
select plan(25);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset

-- One piece, as libpawl sends it.
create function pg_temp.piece(s bigint, r uuid, f int, seq int, body text, begins boolean default false, step text default 'ask#1')
returns text language sql as $$
    select answer from t.item(s, r, f, 'note', step, body, json_build_object('kind', 'stream', 'seq', seq, 'begins', begins))
$$;
create function pg_temp.seen(r uuid, after bigint default 0, max_rows int default 1000)
returns text language sql as $$
    select string_agg(concat_ws(' ', f.kind, f.name, f.body, f.seq, case when f.begins then 'begins' end, f.status), ', ' order by f.note_no nulls last)
    from pawl.follow(r, after, max_rows => max_rows) f
$$;

select is(pg_temp.seen(:'r'), 'RUNNING', 'without notes there is the state of the run');
select is(pg_temp.piece(:s, :'r', :f, 1, 'Once ', true), 'ok', 'the first piece');
select is(pg_temp.piece(:s, :'r', :f, 2, 'upon'), 'ok', 'the second piece');
select is(t.answer(:s, :'r', :f, 'note', null, 'hello'), 'ok', 'a line of log');
select is(pg_temp.seen(:'r'), 'stream ask#1 Once  1 begins, stream ask#1 upon 2, log hello, RUNNING', 'all are followed in order, while the step is executed');
select is((select string_agg(body, ' ') from pawl.notes(:'r')), 'hello', 'notes() leaves the pieces out');
select is(pg_temp.seen(:'r', max_rows => 2), 'stream ask#1 Once  1 begins, stream ask#1 upon 2', 'with a full page there may be more: no state');
select max(note_no) as seen from pawl.follow(:'r') \gset
select is(pg_temp.seen(:'r', :seen), 'RUNNING', 'nothing after the last one');

-- guard:stream_once
select is(pg_temp.piece(:s, :'r', :f, 2, 'upon'), 'already', 'a piece that is sent again is stored already');
select is(pg_temp.piece(:s, :'r', :f, 3, ' a time'), 'ok', 'the next one is new');
select is(pg_temp.seen(:'r', :seen), 'stream ask#1  a time 3, RUNNING', 'and comes once');

-- Bounds.
select is(pg_temp.piece(:s, :'r', :f, 100001, 'x'), 'refused', 'more than 100,000 pieces');
select is(pg_temp.piece(:s, :'r', :f, null, 'x'), 'refused', 'a piece without a number');
select is(pg_temp.piece(:s, :'r', :f, 4, repeat('x', 16385)), 'refused', 'more than 16 kB');
insert into pawl_data.note (run_id, note_no, task_no, at, kind, body) select :'r', nextval('pawl_data.trail_no'), 0, pawl.now(), 'log', 'line ' || g from generate_series(1, 999) g;
select is((select answer || ': ' || reason from t.item(:s, :'r', :f, 'note', null, 'x')), 'refused: a run has at most 1000 notes', 'pieces are not counted as notes');

-- Another claim begins to count again, and a reader is told.
select max(note_no) as seen from pawl_data.note where run_id = :'r' \gset
select t.answer(:s, :'r', :f, 'release') as released \gset
select fence as f2 from t.one(:s) \gset
select is(pg_temp.piece(:s, :'r', :f2, 1, 'Once more', true), 'ok', 'the first piece of another claim');
select is(pg_temp.seen(:'r', :seen), 'stream ask#1 Once more 1 begins, RUNNING', 'a reader sees that the step begins again');

-- The run outlives the partition of its day, and its notes move.
select max(note_no) as seen from pawl_data.note where run_id = :'r' \gset
select pawl._keep(:'r');
update pawl_data.task set kept = true where run_id = :'r';
select is((select count(*) from pawl_data.note where run_id = :'r'), 0::bigint, 'the notes have moved');
select is(pg_temp.piece(:s, :'r', :f2, 1, 'Once more', true), 'already', 'a piece that has moved is known');
select is(pg_temp.piece(:s, :'r', :f2, 2, ' again'), 'ok', 'the next piece of a run that was kept');
select is(pg_temp.seen(:'r', :seen), 'stream ask#1  again 2, RUNNING', 'a reader continues where it was');
select is((select string_agg(total::text, ' ' order by note_no) from pawl_data.note_kept where run_id = :'r' and seq is not null), '1 2 3 4 5', 'the pieces of a task are counted over its claims');
update pawl_data.note_kept set total = 1000000 where run_id = :'r' and total = 5;
select is(pg_temp.piece(:s, :'r', :f2, 3, '!'), 'refused', 'more than 1,000,000 pieces of a task');

select max(note_no) as seen from pawl_data.note_kept where run_id = :'r' \gset
select t.answer(:s, :'r', :f2, 'complete', null, '1') as completed \gset
select is(pg_temp.seen(:'r', :seen), 'SUCCESS', 'the end of the run');
select throws_ok($$select * from pawl.follow(gen_random_uuid())$$, 'PW001', null, 'an unknown run');
select * from finish();
