-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.session() as s \gset
create function matches(p_match json, p_payload json) returns boolean language plpgsql as $$
declare v_run record; v_session bigint := (select max(session_id) from pawl_data.worker); v_topic text := gen_random_uuid(); v_before boolean; v_after boolean;
begin
    -- The event after the wait, and the event before the wait, must agree.
    select h.* into v_run from t.held(v_session) h;
    perform from pawl.wait_event(v_session, v_run.run_id, v_run.fence, 'w', v_topic, match => p_match);
    v_after := (select e.woken = 1 from pawl.emit(v_topic, p_payload) e);
    perform from pawl.kill(array[v_run.run_id]);
    select h.* into v_run from t.held(v_session) h;
    perform from pawl.emit(v_topic || '2', p_payload);
    v_before := (select w.value ->> 'state' = 'SUCCESS' from pawl.wait_event(v_session, v_run.run_id, v_run.fence, 'w', v_topic || '2', match => p_match) w);
    perform from pawl.kill(array[v_run.run_id]);
    if v_before <> v_after then
        raise exception 'before % after %', v_before, v_after;
    end if;
    return v_after;
end $$;
select is(matches(m, p), e, format('%s %s %s', m, case when e then 'matches' else 'does not match' end, p))
from (values
    ('{"/id": 7}'::json, '{"id": 7, "x": 1}'::json, true),
    ('{"/id": 7}', '{"id": 7.0}', true),
    ('{"/id": 7.50}', '{"id": 75e-1}', true),
    ('{"/id": 7}', '{"id": "7"}', false),
    ('{"/id": "7"}', '{"id": 7}', false),
    ('{"/id": "7"}', '{"id": "7"}', true),
    ('{"/id": 7}', '{"id": 8}', false),
    ('{"/id": 7}', '{}', false),
    ('{"/id": 7}', '{"id": null}', false),
    ('{"/id": null}', '{"id": null}', true),
    ('{"/id": null}', '{}', false),
    ('{"/id": null}', '{"id": "null"}', false),
    ('{"/id": true}', '{"id": true}', true),
    ('{"/id": true}', '{"id": "true"}', false),
    ('{"/id": false}', '{"id": true}', false),
    ('{"/id": 7}', '{"id": [7]}', false),
    ('{"/id": 7}', '{"id": {"id": 7}}', false),
    ('{"/id": "a\nb"}', '{"id": "a\nb"}', true),
    ('{"/id": "\u00e9"}', '{"id": "é"}', true),
    ('{"/a/b/c": 1}', '{"a": {"b": {"c": 1}}}', true),
    ('{"/a/b/c": 1}', '{"a": {"b": 1}}', false),
    ('{"/a~1b": 1}', '{"a/b": 1}', true),
    ('{"/a~0b": 1}', '{"a~b": 1}', true),
    ('{"/a~01b": 1}', '{"a~1b": 1}', true),
    ('{"/": 1}', '{"": 1}', true),
    ('{"/items/1": "b"}', '{"items": ["a", "b"]}', true),
    ('{"/items/1": "a"}', '{"items": ["a", "b"]}', false),
    ('{"/items/2": "b"}', '{"items": ["a", "b"]}', false),
    ('{"/items/-1": "b"}', '{"items": ["a", "b"]}', false),
    ('{"/items/0/id": 3}', '{"items": [{"id": 3}]}', true),
    ('{"/a": 1, "/b": 2}', '{"b": 2, "a": 1}', true),
    ('{"/b": 2, "/a": 1}', '{"a": 1, "b": 2}', true),
    ('{"/a": 1, "/b": 2}', '{"a": 2, "b": 1}', false),
    ('{"/a": 1, "/b": 2}', '{"a": 1}', false),
    ('{"/a": 1, "/b": 2, "/c": 3, "/d": 4}', '{"a": 1, "b": 2, "c": 3, "d": 4}', true),
    ('{}', '{"a": 1}', true),
    ('{"/a": 1}', '7', false),
    ('{"/a": 1}', '[]', false)) v (m, p, e);
select * from finish();
