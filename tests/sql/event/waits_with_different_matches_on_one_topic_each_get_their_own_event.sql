-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
create temporary table run as
select h.run_id, w.answer, n from generate_series(1, 20) n, lateral t.held(:s, input => to_json(n)) h,
    lateral pawl.wait_event(:s, h.run_id, h.fence, 'w', 'x', match => case when n % 2 = 0 then json_build_object('/id', n) else json_build_object('/id', n, '/kind', 'odd') end) w;
select is((select woken from pawl.emit('x', '{"id": 4, "kind": "even"}')), 1, 'one run waits for id 4');
select is((select string_agg(n::text, ' ') from run where t.state(run_id) = 'QUEUED'), '4', 'and it alone goes on');
select is((select woken from pawl.emit('x', '{"id": 5, "kind": "even"}')), 0, 'one of two paths is not enough');
select is((select woken from pawl.emit('x', '{"id": 5, "kind": "odd"}')), 1, 'both paths');
select is((select count(*) from run where t.state(run_id) = 'PAUSED event'), 18::bigint, 'the others wait on');
select * from finish();
