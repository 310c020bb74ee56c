-- SPDX-License-Identifier: Apache-2.0
-- Every verb that a producer or a worker calls, for bench/engine --plans, which runs each line several times in one session
-- and looks at the plans of all that happens inside. One statement to a line; a word before the first colon names it.
-- bench.s() is the session of the worker, bench.c(n) claims n tasks, bench.one(...) commits an item for each.
trigger: select * from pawl.trigger('bench.run', '{}')
trigger_key: select * from pawl.trigger('bench.run', '{}', key => 'k' || random())
trigger_same_key: select * from pawl.trigger('bench.run', '{}', key => 'same')
trigger_id: select * from pawl.trigger('bench.run', '{}', id => pawl.make_id())
trigger_delay: select * from pawl.trigger('bench.run', '{}', delay => interval '1 hour')
trigger_large: select * from pawl.trigger('bench.run', to_json(repeat('x', 5000)))
trigger_many: select * from pawl.trigger_many('bench.run', array_fill('{}'::json, array[150]))
trigger_many_keys: select * from pawl.trigger_many('bench.run', array_fill('{}'::json, array[3]), array(select 'm' || random() from generate_series(1, 3)))
trigger_many_same_keys: select * from pawl.trigger_many('bench.run', array_fill('{}'::json, array[3]), array['same', 'same2', 'same'])
claim_and_step: select m.* from pawl.claim(bench.s(), 1) c, pawl.commit(bench.s(), array[c.run_id], array[c.fence], '{step}', array['a#' || (random() * 999999999)::int], '{1}', '{1}') m
claim_request: select * from pawl.claim(bench.s(), 1, 7000 + (random() * 1000000)::int)
claim_quiet: select * from pawl.claim(bench.s(), 1, quiet => true)
claim_many_and_complete: select m.* from (select array_agg(c.run_id) as runs, array_agg(c.fence) as fences, array_agg('complete'::text) as kinds, array_agg(null::text) as names, array_agg('{}'::text) as outputs from pawl.claim(bench.s(), 50) c) c, pawl.commit(bench.s(), c.runs, c.fences, c.kinds, c.names, c.outputs) m where c.runs is not null
claim_later: select * from pawl.claim(bench.s(), 1, start => false)
start: select bench.one('start', null, null, null)
step: select bench.one('step', 'b#' || n, '2', null) from generate_series(1, 1) n
step_again: select bench.one('step', 'b#1', '2', null)
step_carefully: select m.* from pawl.claim(bench.s(), 1) c, pawl.commit_carefully(bench.s(), array[c.run_id], array[c.fence], '{step}', '{a#1}', '{1}') m
begin_undo: select bench.one('begin', 'undo#1', null, '{"undo": {"handler": "u", "input": 1}}')
retry: select bench.one('retry', 'r#1', '{"message": "no"}', '{"policy": {"base_ms": 0}}')
sleep: select bench.one('sleep', 'z#1', null, '{"ms": 0}'), bench.one('suspend', null, null, null)
event: select bench.one('event', 'e#1', null, '{"topic": "plans", "match": {"/id": 1}}'), bench.one('suspend', null, null, null)
emit: select * from pawl.emit('plans', '{"id": 1}')
emit_nobody: select * from pawl.emit('nobody', '{}', key => 'k')
signal_wait: select bench.one('signal', 'g#1', null, '{"signal": "go", "timeout_ms": 1}'), bench.one('suspend', null, null, null)
approval: select bench.one('approval', 'ok#1', null, '{"signal": "ok"}')
signal: select pawl.signal(bench.run(), 'go', '{}')
child: select bench.one('child', 'c#1', '{}', '{"workflow": "bench.run"}')
note: select bench.one('note', 'n', '"said"', '{"kind": "log"}')
record_step: select pawl.record_step(pawl.step_token(bench.s(), c.run_id, c.fence, 'tx#1'), '1') from pawl.claim(bench.s(), 1) c
heartbeat: select * from pawl.heartbeat(bench.s())
held: select * from pawl.held(bench.s())
idle: select pawl.idle(bench.s())
complete: select bench.one('complete', null, '1', null)
fail: select bench.one('fail', null, '{"message": "no"}', null)
fail_final: select bench.one('fail', null, '{"message": "no"}', '{"final": true}')
release: select bench.one('release', null, null, null)
get_run: select * from pawl.get_run(bench.run())
result: select * from pawl.result(bench.run())
pause: select * from pawl.pause(array[bench.run()])
resume: select * from pawl.resume(array[bench.run()])
cancel: select * from pawl.cancel(array[bench.run()])
kill: select * from pawl.kill(array[bench.run()])
tick: select bench.set_tick(true), (select count(*) from pawl.claim(bench.s(), 1))
chores: select bench.chores()
