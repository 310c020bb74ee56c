# SPDX-License-Identifier: Apache-2.0
"""Faults inside handlers: odd exceptions, many gathers. With PAWL_FULL in the environment at their full size, for .ci/full."""

from __future__ import annotations

import asyncio
import pathlib
import threading
from typing import Any

import pytest
from conftest import FULL, LIMIT, Moved

import pawl
from pawl.testing import TestServer


class Odd(BaseException):
    pass


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__("a lock", threading.Lock())

    def __reduce__(self) -> Any:
        raise TypeError("not to be copied")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def cyclic() -> Exception:
    one, two = ValueError("one"), KeyError("two")
    one.__cause__, two.__context__ = two, one
    one.args = ("cycle", one)
    return one


ODD = {
    "base": lambda: Odd("not an Exception"),
    "interrupt": lambda: KeyboardInterrupt("ctrl"),
    "exit": lambda: SystemExit(3),
    "generator": lambda: GeneratorExit("odd"),
    "unpicklable": Unpicklable,
    "cycle": cyclic,
    "long": lambda: ValueError("x" * 10_000_000),
    "surrogates": lambda: ValueError("a\ud800b\udfff\0c"),
    "mute": Mute,
    "group": lambda: BaseExceptionGroup("several", [Odd("first"), ValueError("second")]),
    "name": lambda: type("n" * 100_000, (Exception,), {})("a long name"),
    "strange": lambda: type("Naïve Fehler\n", (Exception,), {})("a strange name"),
    "code": lambda: pawl.Failure("own", code="c" * 100_000),
    "nul": lambda: pawl.Failure("own", code="a\0b\ud800"),
}


def throw(what: str) -> None:
    raise ODD[what]()


@pytest.mark.parametrize("form", ["loop", "threads"])
def test_every_exception_of_a_step_is_recorded_and_the_run_continues(pawl_server: TestServer, form: str) -> None:
    app = pawl.App()
    once = pawl.Retry(max_attempts=1)

    async def in_loop(ctx: pawl.AsyncContext) -> dict[str, list[Any]]:
        found = {}
        for what in ODD:
            try:
                await ctx.step(what, throw, what, retry=once)
            except pawl.StepFailed as exc:
                found[what] = [exc.recorded_code, exc.message]
        return found

    def in_threads(ctx: pawl.Context) -> dict[str, list[Any]]:
        found = {}
        for what in ODD:
            try:
                ctx.step(what, throw, what, retry=once)
            except pawl.StepFailed as exc:
                found[what] = [exc.recorded_code, exc.message]
        return found

    app.workflow("f.odd")(in_loop if form == "loop" else in_threads)
    with Moved(pawl_server, app) as db:
        db.client.call("create_workflow", name="f.odd", max_attempts=1)
        run = db.client.trigger("f.odd")
        db.work()
        found = db.output(run)
    assert list(found) == list(ODD)
    assert found["base"] == ["Odd", "not an Exception"]
    assert found["cycle"][0] == "ValueError"
    assert 1000 < len(found["long"][1]) < 10_000
    assert found["surrogates"][1].startswith("a?b?")
    assert found["mute"][1] == "(the exception has no text)"
    assert found["group"] == ["Odd", "first"]


@pytest.mark.parametrize("form", ["loop", "threads"])
def test_every_exception_of_a_handler_ends_its_run_and_no_other(pawl_server: TestServer, form: str) -> None:
    app = pawl.App()

    async def in_loop(ctx: pawl.AsyncContext, what: str) -> str:
        if what != "well":
            throw(what)
        return "well"

    def in_threads(ctx: pawl.Context, what: str) -> str:
        if what != "well":
            throw(what)
        return "well"

    app.workflow("f.odd")(in_loop if form == "loop" else in_threads)
    with Moved(pawl_server, app) as db:
        db.client.call("create_workflow", name="f.odd", max_attempts=1)
        runs = {what: db.client.trigger("f.odd", what) for what in [*ODD, "well"]}
        db.work()
        assert {what: db.status(run) for what, run in runs.items()} == {**dict.fromkeys(ODD, "ERROR"), "well": "SUCCESS"}
        assert max(len(db.error(runs[what]).message) for what in ODD) < 10_000


def resident() -> int:
    text = pathlib.Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS:"))


def test_many_gathers_have_the_same_names_and_results_on_every_replay(pawl_server: TestServer) -> None:
    rounds, each, width = (20, 500, 50) if FULL else (3, 5, 50)
    app = pawl.App()
    seen: dict[str, list[list[int]]] = {}

    async def one(n: int) -> int:
        await asyncio.sleep((n * 7 % 5) / 1000)  # so that they end in another order
        return n

    @app.workflow("f.gather")
    async def gather(ctx: pawl.AsyncContext, base: int) -> int:
        wide = await asyncio.gather(*[ctx.step("wide", one, base + i) for i in range(width)])
        for i in range(width):
            wide += await asyncio.gather(ctx.step("same", one, base + i), ctx.branch(f"b{i}").step("s", one, i))
            if i == width // 2:
                seen.setdefault(ctx.id, []).append(list(wide))
                await ctx.sleep("nap", 60)
        return sum(wide)

    names = {f"wide#{i + 1}" for i in range(width)} | {f"same#{i + 1}" for i in range(width)} | {f"b{i}/s#1" for i in range(width)}
    memory: list[int] = []
    with Moved(pawl_server, app) as db:
        db.client.call("create_workflow", name="f.gather", max_attempts=1)
        for _ in range(rounds):
            runs = db.client.trigger_many("f.gather", list(range(each)))
            db.work(LIMIT)
            db.advance(60)
            db.work(LIMIT)
            for n, run in enumerate(runs):
                expected = [n + i for i in range(width)]
                expected += [value for i in range(width) for value in (n + i, i)]
                before = expected[: width + 2 * (width // 2 + 1)]
                assert seen.pop(run) == [before, before]
                assert db.output(run) == sum(expected)
            steps = db.steps(runs[0])
            assert len(steps) == len(names) + 1
            assert set(steps) == names | {"nap#1"}
            memory.append(resident())
    if FULL:
        assert memory[-1] <= 1.1 * memory[rounds // 5], memory
