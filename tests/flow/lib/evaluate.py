# SPDX-License-Identifier: Apache-2.0
"""What a run of a flow must come to: a plain evaluator that goes through the steps in order and knows nothing of queues, gates
and times. A step is a dictionary with the arguments of pawl.add_step: name, deps, and its options."""

import handler

SUCCESS, ERROR, SKIPPED = "SUCCESS", "ERROR", "SKIPPED"


class Outcome:
    """Of a task, a step or a run. A step that is a map has tasks; the one of a map or a child may have children."""

    def __init__(self, state, output=None, why=None, spreads=False):
        self.state, self.output, self.why, self.spreads = state, output, why, spreads
        self.tasks = None
        # It succeeds after some failed tries.
        self.shaky = False
        # It failed, and was skipped.
        self.soft = False
        self.child = None


class Evaluator:
    def __init__(self, flows, coded_attempts):
        self.flows = flows
        self.coded_attempts = coded_attempts

    def run(self, flow, given, failing=True):
        """The outcome of a run, and of each of its steps that can be reached. failing: tasks of its own may fail."""
        steps = {}
        for step in flow["steps"]:
            deps = [steps.get(d) for d in step["deps"]]
            if all(d is not None and d.state != ERROR for d in deps):
                steps[step["name"]] = self.step(flow, step, given, dict(zip(step["deps"], deps)), failing)
        if any(s.state == ERROR for s in steps.values()):
            return Outcome(ERROR), steps
        used = {d for step in flow["steps"] for d in step["deps"]}
        return Outcome(SUCCESS, {n: s.output for n, s in steps.items() if n not in used}), steps

    def step(self, flow, step, given, deps, failing):
        if any(d.spreads for d in deps.values()):
            return Outcome(SKIPPED, spreads=True)
        whole = {"run": given, **{name: d.output for name, d in deps.items()}}
        if "condition" in step and not meets(step["condition"], whole):
            if step.get("unmet") == "fail":
                return Outcome(ERROR, why="condition")
            return Outcome(SKIPPED, spreads=step.get("unmet") == "skip_all")
        if "map" not in step:
            return skipped(step, self.task(flow, step, whole, failing))
        items = given if step["map"] == "run" else deps[step["map"]].output
        if deps.get(step["map"], Outcome(SUCCESS)).state == SKIPPED:
            items = []
        if not isinstance(items, list):
            return skipped(step, Outcome(ERROR, why="not_an_array"))
        tasks = [skipped(step, self.task(flow, step, {"run": given, "item": v, "index": i}, failing)) for i, v in enumerate(items)]
        failed = any(t.state == ERROR for t in tasks)
        made = Outcome(ERROR, why="step_failed") if failed else Outcome(SUCCESS, [t.output for t in tasks])
        made.tasks = tasks
        return made

    def task(self, flow, step, given, failing):
        if "workflow" in step:
            return self.child(step["workflow"], given)
        name = flow["name"] + "/" + step["name"]
        tries = handler.failures(name, given) if failing or handler.is_soft(name) else 0
        if tries >= step.get("max_attempts", flow["max_attempts"]):
            return Outcome(ERROR, why="step_failed")
        made = Outcome(SUCCESS, handler.output(name, given))
        made.shaky = tries > 0
        return made

    def child(self, name, given):
        if name in self.flows:
            inner, _ = self.run(self.flows[name], given)
        elif handler.failures(name, given) >= self.coded_attempts:
            inner = Outcome(ERROR)
        else:
            inner = Outcome(SUCCESS, handler.output(name, given))
        made = Outcome(inner.state, inner.output, why="step_failed")
        made.child = name
        return made


def skipped(step, outcome):
    """The outcome of a task that may fail without failing its run."""
    if outcome.state == ERROR and step.get("failed", "fail") != "fail":
        outcome.state, outcome.output, outcome.spreads = SKIPPED, None, step["failed"] == "skip_all"
        outcome.soft = True
    return outcome


def meets(condition, value):
    return all(same(at(pointer, value), wanted) for pointer, wanted in condition.items())


def at(pointer, value):
    for part in pointer.split("/")[1:]:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def same(found, wanted):
    return found is not None and not isinstance(found, (dict, list)) and type(found) is type(wanted) and found == wanted
