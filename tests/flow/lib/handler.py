# SPDX-License-Identifier: Apache-2.0
"""What the tasks of the tests do: pure functions of a handler's name and its input, so that a worker and whoever checks
the outcome compute the same."""

import json
import zlib

FOR_EVER = 1000000


def digest(name, value):
    return zlib.crc32((name + json.dumps(value, sort_keys=True, separators=(",", ":"))).encode())


def total(value):
    """The sum of all numbers in a value."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, list):
        return sum(total(v) for v in value)
    if isinstance(value, dict):
        return sum(total(v) for v in value.values())
    return 0


def output(name, given):
    """The last part of a name begins with the kind of its output: b(it), l(ist) or v(alue)."""
    kind = name.replace("/", ".").split(".")[-1][0]
    number = total(given) + len(name)
    if kind == "b":
        return number % 2
    if kind == "l":
        return [(number + i) % 1000 for i in range(number % 5)]
    return number % 1000


def is_soft(name):
    """Whether the step may fail without failing its run. Such a step fails in every round: when it was decided, depends on time."""
    return name.endswith("_s")


def failures(name, given):
    """How often the task fails before it succeeds. Only some runs have tasks that never do."""
    n = digest(name, given)
    if digest("", given["run"]) % 3 == 0 and n % 40 == 0:
        return FOR_EVER
    return 1 + n // 12 % 2 if n % 12 == 1 else 0
