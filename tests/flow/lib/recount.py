# SPDX-License-Identifier: Apache-2.0
"""What must hold at every moment, seen by a reader with one snapshot: gates equal a recount of what they count."""

import time

# Of runs that are not to end. A step that waits for others has a gate from the first of them that is done; a map that has
# started has one for its tasks and children that are not.
GATES = """
with run as materialized (
    select t.run_id, q.workflow_id
    from pawl_data.task t join pawl_data.queue q on q.queue_id = t.queue_id
    where t.task_no = 0 and t.place = 'o' and t.ending is null
), recorded as materialized (
    select s.run_id, s.task_no / 1000000 as step_no
    from run r join pawl_data.step s on s.run_id = r.run_id
    where s.task_no > 0 and s.task_no % 1000000 = 0 and strpos(s.name, '#') = 0 and s.state in ('s', 'k')
), waiting as (
    select r.run_id, s.step_no, count(*) as needed, count(d.step_no) as come
    from run r
    join pawl_data.flow_step s on s.workflow_id = r.workflow_id
    cross join lateral unnest(s.deps) u (no)
    left join recorded d on d.run_id = r.run_id and d.step_no = u.no
    group by r.run_id, s.step_no
), open as (
    select t.run_id, t.task_no / 1000000 as step_no from pawl_data.task t join run r on r.run_id = t.run_id where t.task_no % 1000000 > 0
    union all
    select w.run_id, w.task_no / 1000000 from pawl_data.wait w join run r on r.run_id = w.run_id
    where w.kind = 'c' and w.task_no % 1000000 > 0 and strpos(w.name, '#') = 0
), counted as (
    select w.run_id, w.step_no, w.needed - w.come as missing from waiting w where w.come > 0 and w.come < w.needed
    union all
    select o.run_id, o.step_no, count(*) from open o group by o.run_id, o.step_no
)
select g.run_id as run, g.step_no as step, g.missing, c.run_id as counted_run, c.step_no as counted_step, c.missing as counted
from (select g.* from pawl_data.gate g join run r on r.run_id = g.run_id) g
full join counted c on c.run_id = g.run_id and c.step_no = g.step_no
where g.missing is distinct from c.missing
"""

ORPHANS = "select g.run_id as run, g.step_no as step from pawl_data.gate g where not exists (select from pawl_data.task t where t.run_id = g.run_id)"

# A join that was made before all of its parts were there.
EARLY = """
select t.run_id as run, t.task_no as task, d.no as before
from pawl_data.task t
join pawl_data.task z on z.run_id = t.run_id and z.task_no = 0
join pawl_data.queue q on q.queue_id = z.queue_id
join pawl_data.flow_step s on s.workflow_id = q.workflow_id and s.step_no = t.task_no / 1000000
cross join lateral unnest(s.deps) d (no)
where t.task_no > 0 and not exists (
    select from pawl_data.step k
    where k.run_id = t.run_id and k.task_no = d.no * 1000000 and strpos(k.name, '#') = 0 and k.state in ('s', 'k'))
"""


def wrong(psql):
    """All that is wrong now, as sentences."""
    psql.run("begin isolation level repeatable read read only")
    try:
        return ([f"gate and recount differ: {r}" for r in psql.rows(GATES)]
                + [f"gate without a run: {r}" for r in psql.rows(ORPHANS)]
                + [f"early start: {r}" for r in psql.rows(EARLY)])
    finally:
        psql.run("commit")


# Open runs, and whether anything can still happen by itself.
PROGRESS = """
select (select count(*) from pawl_data.task t where t.task_no = 0) as open,
       (select count(*) from pawl_data.task t where t.place in ('r', 'h', 's') or t.place = 'w' and t.due_at < 'infinity')
       + (select count(*) from pawl_data.wait w where w.kind = 'l') as moving,
       (select count(*) from pawl_data.task t where t.paused is not null) as paused
"""

LEFT = """
select 'task' as what, count(*) as n from pawl_data.task
union all select 'gate', count(*) from pawl_data.gate
union all select 'wait', count(*) from pawl_data.wait
"""


def wait_for_end(psql, crew, looks=None, every=0.3):
    """Until all runs have ended. Returns what is wrong: runs that cannot go on, and what each look has found."""
    found, still, kept = [], 0, time.monotonic()
    while not crew.errors and len(found) < 5:
        now = psql.rows(PROGRESS)[0]
        # Workers of a crew never tick. A claim that lasts longer than its lease leaves tasks with a session that has ended; a chore finds them.
        if time.monotonic() > kept + 2:
            psql.run("select from pawl.housekeep()")
            kept = time.monotonic()
        if now["open"] == 0:
            break
        # A run that is between two transactions of one worker has a task that is held.
        still = still + 1 if now["moving"] == 0 and now["paused"] == 0 else 0
        if still > 3:
            stuck = psql.rows("select t.run_id as run, pawl.why(t.run_id) as why from pawl_data.task t where t.task_no = 0 limit 5")
            return found + [f"stuck: {s}" for s in stuck]
        found += (looks or wrong)(psql)
        crew.over.wait(every)
    psql.run("select from pawl.housekeep()")
    return found + [f"left: {r}" for r in psql.rows(LEFT) if r["n"] and not crew.errors and not found]
