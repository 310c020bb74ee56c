-- SPDX-License-Identifier: Apache-2.0
-- Notes of a run: lines that its handler writes, and pieces of text that a step streams while it is executed.

create or replace function pawl._put_note(
    p_task pawl_data.task, p_now timestamptz, p_name text, p_payload text, p_option json, out answer text, out reason text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_kind text := coalesce(p_option ->> 'kind', 'log');
    v_seq int := case when v_kind = 'stream' then (p_option ->> 'seq')::int end;
    v_fence int := case when v_kind = 'stream' then p_task.fence end;
    v_begins boolean := case when v_kind = 'stream' then coalesce((p_option ->> 'begins')::boolean, false) end;
    v_last pawl_data.note;
    v_total int;
begin
    if v_kind = 'stream' then
        v_last := pawl._last_piece(p_task);
        v_total := coalesce(v_last.total, 0) + 1;
    end if;
    answer := 'refused';
    if v_kind not in ('log', 'progress', 'value', 'stream') then
        reason := format('unknown kind of note "%s"', v_kind);
    elsif p_payload is null or octet_length(p_payload) > 16384 or length(p_name) > 240 or v_kind <> 'stream' and length(p_name) > 200 then
        reason := 'a note has at most 16384 bytes and a name of at most 200 characters';
    elsif v_kind = 'stream' and (p_name is null or v_seq is null or v_seq < 1) then
        reason := 'a piece of a stream has the name of its step and a number';
    elsif v_seq > 100000 then
        -- guard:stream_max
        reason := 'a claim streams at most 100000 pieces';
    elsif v_last.fence = v_fence and v_last.seq >= v_seq then
        -- 1. A worker sends pieces 4 and 5. 2. They are committed, and the reply is lost. 3. The worker sends them again. A second row would
        -- give a reader the same text twice. A worker sends the pieces of a claim in order, so all up to the last one are stored.
        -- guard:stream_once
        answer := 'already';
    elsif v_total > 1000000 then
        -- The rows of a run move to the kept tables, and are purged, in one transaction.
        -- guard:stream_total_max
        reason := 'a task streams at most 1000000 pieces';
    elsif v_kind <> 'stream' and pawl._note_count(p_task.run_id, p_task.kept, 1000) >= 1000 then
        reason := 'a run has at most 1000 notes';
    else
        if p_task.kept then
            insert into pawl_data.note_kept (run_id, note_no, task_no, at, kind, name, body, fence, seq, total, begins)
            values (p_task.run_id, nextval('pawl_data.trail_no'), p_task.task_no, p_now, v_kind, p_name, p_payload, v_fence, v_seq, v_total, v_begins);
        else
            insert into pawl_data.note (run_id, note_no, task_no, at, kind, name, body, fence, seq, total, begins)
            values (p_task.run_id, nextval('pawl_data.trail_no'), p_task.task_no, p_now, v_kind, p_name, p_payload, v_fence, v_seq, v_total, v_begins);
        end if;
        answer := 'ok';
    end if;
end
$$;
comment on function pawl._put_note(pawl_data.task, timestamptz, text, text, json) is 'keeps a note with a run, within bounds';

-- Returns the last piece that a task has streamed. The rows of the task are read from the end.
create or replace function pawl._last_piece(p_task pawl_data.task)
returns pawl_data.note
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_last pawl_data.note;
begin
    if p_task.kept then
        select n.* into v_last
        from pawl_data.note_kept n
        where n.run_id = p_task.run_id and n.task_no = p_task.task_no and n.seq is not null
        order by n.note_no desc limit 1;
    else
        select n.* into v_last
        from pawl_data.note n
        where n.run_id = p_task.run_id and n.task_no = p_task.task_no and n.seq is not null
        order by n.note_no desc limit 1;
    end if;
    return v_last;
end
$$;
comment on function pawl._last_piece(pawl_data.task) is 'the last piece that a task has streamed';

create or replace function pawl._note_count(p_id uuid, p_kept boolean, p_max int)
returns bigint
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    if p_kept then
        return (select count(*) from (select from pawl_data.note_kept n where n.run_id = p_id and n.seq is null limit p_max) c);
    end if;
    return (select count(*) from (select from pawl_data.note n where n.run_id = p_id and n.seq is null limit p_max) c);
end
$$;
comment on function pawl._note_count(uuid, boolean, int) is 'how many notes other than pieces of streams a run has, up to a limit';

-- Returns notes after a number, wherever they live. With a task: all notes of the task. Without: the notes of all tasks that are no pieces
-- of streams.
create or replace function pawl._notes_after(p_id uuid, p_after bigint, p_task int, p_max int)
returns setof pawl_data.note
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    if p_task is null then
        return query
        select u.*
        from (
            (select n.* from pawl_data.note n where n.run_id = p_id and n.note_no > p_after and n.seq is null order by n.note_no limit p_max)
            union all
            (select k.* from pawl_data.note_kept k where k.run_id = p_id and k.note_no > p_after and k.seq is null order by k.note_no limit p_max)
        ) u
        order by u.note_no
        limit p_max;
        return;
    end if;
    return query
    select u.*
    from (
        (select n.* from pawl_data.note n where n.run_id = p_id and n.note_no > p_after and n.task_no = p_task order by n.note_no limit p_max)
        union all
        (select k.* from pawl_data.note_kept k where k.run_id = p_id and k.note_no > p_after and k.task_no = p_task order by k.note_no limit p_max)
    ) u
    order by u.note_no
    limit p_max;
end
$$;
comment on function pawl._notes_after(uuid, bigint, int, int) is 'notes of a run after a number, wherever they live';
