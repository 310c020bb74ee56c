-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select t.run('a.flow'), t.run('b.flow') \g /dev/null
select run_id from pawl.trigger_many('a.flow', array_fill('1'::json, array[9])) \g /dev/null

-- Each look at a queue is followed by a trigger whose transaction began before the others' and ends now.
alter function pawl._pick(int, int, text, timestamptz, boolean) rename to _pick_alone;
create function pawl._pick(p_queue int, p_max int, p_tenant text, p_now timestamptz, p_first_id boolean) returns tid[] language plpgsql as $$
declare
    v_picked tid[] := pawl._pick_alone(p_queue, p_max, p_tenant, p_now, p_first_id);
begin
    perform from pawl.trigger_many('a.flow', array_fill('2'::json, array[9]));
    update pawl_data.task set due_at = due_at - interval '1 s' where input::text = '2' and due_at = p_now;
    return v_picked;
end
$$;
select is((select count(*) from pawl.claim(:s, 6)), 6::bigint, 'as many as it asks for');
select is((select count(*) from pawl_data.task where place = 'h'), 6::bigint, 'and no others are held');

select * from finish();
