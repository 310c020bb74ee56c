-- SPDX-License-Identifier: Apache-2.0
-- Notes of a run: lines that its handler writes.

create or replace function pawl._put_note(
    p_task pawl_data.task, p_now timestamptz, p_name text, p_payload text, p_option json, out answer text, out reason text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_kind text := coalesce(p_option ->> 'kind', 'log');
    v_count bigint;
begin
    answer := 'refused';
    if v_kind not in ('log', 'progress', 'value') then
        reason := format('unknown kind of note "%s"', v_kind);
    elsif p_payload is null or octet_length(p_payload) > 16384 or length(p_name) > 200 then
        reason := 'a note has at most 16384 bytes and a name of at most 200 characters';
    else
        select count(*) into v_count
        from (select from pawl._notes(p_task.run_id) limit 1000) n;
        if v_count >= 1000 then
            reason := 'a run has at most 1000 notes';
            return;
        end if;
        if p_task.kept then
            insert into pawl_data.note_kept (run_id, note_no, task_no, at, kind, name, body)
            values (p_task.run_id, nextval('pawl_data.trail_no'), p_task.task_no, p_now, v_kind, p_name, p_payload);
        else
            insert into pawl_data.note (run_id, note_no, task_no, at, kind, name, body)
            values (p_task.run_id, nextval('pawl_data.trail_no'), p_task.task_no, p_now, v_kind, p_name, p_payload);
        end if;
        answer := 'ok';
    end if;
end
$$;
comment on function pawl._put_note(pawl_data.task, timestamptz, text, text, json) is 'keeps a note with a run, within bounds';

create or replace function pawl._notes(p_id uuid)
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
    return query
    select n.* from pawl_data.note n where n.run_id = p_id
    union all
    select k.* from pawl_data.note_kept k where k.run_id = p_id;
end
$$;
comment on function pawl._notes(uuid) is 'the notes of a run, wherever they live';
