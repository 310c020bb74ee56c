-- SPDX-License-Identifier: Apache-2.0
select plan(3);
-- A flow has up to 2,000 steps, and the task of a step is a million times its number.
select t.session() as s \gset
select lives_ok(format($$ select pawl.heartbeat(%s, '[{"run": "01a1e142-b1d6-7abc-bcfc-ccc661703b9c", "task": 2000000000, "step": "x#1", "started_ms": 1}]') $$, :s),
    'a heartbeat tells of the last one');
select throws_ok(format($$ select pawl.heartbeat(%s, '[{"run": "01a1e142-b1d6-7abc-bcfc-ccc661703b9c", "task": 2200000000, "step": "x#1", "started_ms": 1}]') $$, :s),
    'PW003', null, 'but of no number that there is none of');
select throws_ok($$ select pawl.record_step('pawl1 01a1e142-b1d6-7abc-bcfc-ccc661703b9c 1999000000 4294967297 2000000001 - x#1', '1') $$,
    'PW005', null, 'a transactional step of such a task finds that it was lost, not that its token is malformed');
select * from finish();
