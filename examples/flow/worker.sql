-- SPDX-License-Identifier: Apache-2.0
-- A worker for flow/web.json in plain SQL. It claims tasks, does them, completes each, and leaves when there has been nothing to do
-- for a second.
--
--   pawl flow apply web.json
--   psql -f worker.sql
--
-- The procedure commits by itself: a claim is durable before the work begins, and so is the end of a task before the next one.
\set ON_ERROR_STOP on

-- The handlers of the steps. Each gets the input that the engine has made for it: {"run": ..., "DEP": ..., ...}.
create function pg_temp.handle(step text, input json)
returns json
language plpgsql
as $$
begin
    case step
        when 'web.analysis.v1/fetch_url' then
            if input #>> '{run,url}' is null then
                raise exception 'there is no URL';
            end if;
            return '{"status": 200, "content": "one good page"}';
        when 'web.analysis.v1/analyze_text' then
            return json_build_object(
                'sentiment', case when input #>> '{fetch_url,content}' like '%good%' then 'positive' else 'none' end,
                'words', cardinality(string_to_array(input #>> '{fetch_url,content}', ' ')));
        when 'web.analysis.v1/extract_images' then
            return '{"images": ["1.jpg", "2.jpg"], "count": 2}';
        when 'web.analysis.v1/create_report' then
            return json_build_object('summary', input #> '{analyze_text,sentiment}', 'images', input #> '{extract_images,count}');
    end case;
end
$$;

create procedure pg_temp.work(session bigint)
language plpgsql
as $$
declare
    v_task record;
    v_output json;
    v_error text;
    v_idle_since timestamptz := clock_timestamp();
begin
    while clock_timestamp() < v_idle_since + interval '1 s' loop
        for v_task in select c.* from pawl.claim(session, 5) c loop
            commit;
            v_error := null;
            begin
                v_output := pg_temp.handle(v_task.workflow, v_task.input);
            exception when others then
                v_error := sqlerrm;
            end;
            if v_error is null then
                perform pawl.complete(session, v_task.run_id, v_task.fence, v_output, task => v_task.task);
            else
                perform pawl.fail(session, v_task.run_id, v_task.fence, json_build_object('message', v_error), task => v_task.task);
            end if;
            commit;
            v_idle_since := clock_timestamp();
        end loop;
        perform pawl.heartbeat(session);
        commit;
        perform pg_sleep(0.05);
    end loop;
end
$$;

select session from pawl.register('psql', array['web.analysis.v1/*']) \gset
call pg_temp.work(:session);
select * from pawl.leave(:session) \g /dev/null
