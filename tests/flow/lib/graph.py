# SPDX-License-Identifier: Apache-2.0
"""Random flows and inputs for them."""

import json

from psql import array, text

CODED = ["kid.v", "kid.l", "kid.b"]


def size(random):
    return random.choice([random.randint(1, 6), random.randint(5, 30), random.randint(5, 30), random.randint(30, 200)])


def flow(random, name, count, children, root_maps):
    """children: names of workflows that a step may be. root_maps: the input of a run is an array."""
    steps = []
    undone = random.random() < 0.3
    for i in range(count):
        deps = random.sample(steps[-12:], min(len(steps), random.choice([0, 1, 1, 1, 2, 2, 3, 6]) if i else 0))
        # The kind of a step's output is the first letter of its name.
        step = {"name": f"{random.choice('vvlllb')}{i}", "deps": [d["name"] for d in deps]}
        lists = [d["name"] for d in deps if d["name"][0] == "l" or "map" in d] + (["run"] if root_maps else [])
        if lists and random.random() < 0.45:
            step["map"] = random.choice(lists)
        if random.random() < 0.25:
            condition(random, step, deps, root_maps)
        if children and random.random() < 0.12:
            step["workflow"] = random.choice(children)
            # Its output is the child's, of whatever kind that is; nobody is to map over it.
            step["name"] = "v" + step["name"][1:] if step["workflow"] != "kid.l" else "l" + step["name"][1:]
        elif random.random() < 0.1:
            step["max_attempts"] = random.randint(1, 4)
        if random.random() < 0.15:
            step["failed"] = random.choice(["skip", "skip", "skip" if "map" in step else "skip_all"])
            step["name"] += "_s"
        if undone and random.random() < 0.4:
            step["undo"] = "take_back"
        if random.random() < 0.03:
            step["delay"] = "30 ms"
        steps.append(step)
    return {"name": name, "max_attempts": random.choice([2, 3, 3]), "steps": steps}


def condition(random, step, deps, root_maps):
    paths = ["/run/1" if root_maps else "/run/b"]
    for dep in deps:
        if "map" in dep:
            paths.append(f"/{dep['name']}/0")
        elif dep["name"][0] == "b":
            paths += [f"/{dep['name']}"] * 3
    step["condition"] = {p: random.choice([0, 1, 1]) for p in random.sample(paths, random.choice([1, 1, min(2, len(paths))]))}
    unmet = random.choice(["skip", "skip", "skip", "skip_all", "skip_all", "fail", None])
    # A flow whose every condition may fail would seldom come to an end.
    if unmet and not (unmet == "fail" and random.random() < 0.7):
        step["unmet"] = unmet


def given(random, root_maps):
    """An input of a run."""
    if root_maps:
        return [random.randint(0, 999), random.choice([0, 1, 1])] + [random.randint(0, 99) for _ in range(random.choice([0, 1, 5, 20]))]
    return random.choice([
        {"seed": random.randint(0, 99999), "b": random.choice([0, 1, 1]), "items": [1, 2]},
        {"seed": random.randint(0, 99999), "b": 1, "text": "x" * 3000},
    ])


def define(flow):
    """The statements that define a flow."""
    yield f"select pawl.create_flow({text(flow['name'])}, max_attempts => {flow['max_attempts']}, base => '10 ms', cap => '40 ms')"
    for step in flow["steps"]:
        options = {k: v for k, v in step.items() if k not in ("name", "deps")}
        yield (f"select pawl.add_step({text(flow['name'])}, {text(step['name'])}, {array(step['deps'], 'text')}, "
               f"{text(json.dumps(options))})")
