# SPDX-License-Identifier: Apache-2.0
"""Handlers in an event loop and in threads. What all languages share is in bindings/scenarios."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest

import pawl
from pawl.testing import TestDatabase, TestServer, _named


@pytest.fixture
def pawl_app() -> pawl.App:
    return pawl.App()


class Lazy:
    """A database whose application is complete only when the worker is made."""

    def __init__(self, app: pawl.App, server: TestServer) -> None:
        self.app, self.server, self.name = app, server, server.copy()
        self.db = TestDatabase(app, _named(None, self.name))

    def run(self, name: str, input: Any = None) -> str:
        """Creates the workflow without retries of its own, triggers a run, and executes what can be executed."""
        self.db.client.call("create_workflow", name=name, max_attempts=1, jitter=0)
        run = self.db.client.trigger(name, input)
        self.db.work()
        return run


@pytest.fixture
def play(pawl_app: pawl.App, pawl_server: TestServer) -> Iterator[Lazy]:
    lazy = Lazy(pawl_app, pawl_server)
    yield lazy
    lazy.db.close()
    pawl_server.drop(lazy.name)


def test_a_step_is_executed_once_and_its_result_passes_through_json(play: Lazy) -> None:
    calls: list[int] = []

    def compute(n: int) -> Any:
        calls.append(n)
        return {"t": (1, 2), "key": pawl.current().key, "attempt": pawl.current().attempt}

    @play.app.workflow("t.once")
    async def once(ctx: pawl.AsyncContext, n: int) -> Any:
        first = await ctx.step("compute", compute, n)
        assert first["t"] == [1, 2]
        await ctx.sleep("nap", 60)
        return first

    run = play.run("t.once", 7)
    assert play.db.status(run) == "PAUSED"
    play.db.advance(60)
    play.db.work()
    assert play.db.output(run)["attempt"] == 1
    assert play.db.output(run)["key"]
    assert calls == [7]
    assert play.db.steps(run) == ["compute#1", "nap#1"]


def test_current_is_known_only_inside_a_step() -> None:
    with pytest.raises(pawl.UsageError, match="no step"):
        pawl.current()


def test_a_suspension_cannot_be_caught_by_except_exception(play: Lazy) -> None:
    caught: list[str] = []
    ended: list[str] = []

    @play.app.workflow("t.threads")
    def threads(ctx: pawl.Context) -> str:
        try:
            ctx.sleep("nap", 60)
        except Exception:
            caught.append("threads")
        finally:
            ended.append("threads")
        return "rested"

    @play.app.workflow("t.loop")
    async def loop(ctx: pawl.AsyncContext) -> str:
        try:
            await ctx.sleep("nap", 60)
        except Exception:
            caught.append("loop")
        finally:
            ended.append("loop")
        return "rested"

    runs = [play.run("t.threads"), play.run("t.loop")]
    play.db.advance(60)
    play.db.work()
    assert [play.db.output(run) for run in runs] == ["rested", "rested"]
    assert caught == []
    assert sorted(ended) == ["loop", "loop", "threads", "threads"]  # those of one moment have no order


def test_a_handler_that_catches_the_release_is_released_all_the_same(play: Lazy) -> None:
    @play.app.workflow("t.stubborn")
    async def stubborn(ctx: pawl.AsyncContext) -> str:
        try:
            await ctx.sleep("nap", 60)
        except asyncio.CancelledError:
            await ctx.step("never", lambda: 1)
        return "done"

    run = play.run("t.stubborn")
    assert play.db.status(run) == "PAUSED"
    play.db.advance(60)
    play.db.work()
    assert play.db.steps(run) == ["nap#1"]
    assert play.db.output(run) == "done"


def test_gather_of_one_name_is_numbered_in_the_order_of_the_code(play: Lazy) -> None:
    async def later(i: int) -> int:
        await asyncio.sleep(0.02 * (5 - i))
        return i

    @play.app.workflow("t.gather")
    async def gather(ctx: pawl.AsyncContext) -> list[int]:
        return await asyncio.gather(*[ctx.step("s", later, i) for i in range(5)])

    run = play.run("t.gather")
    assert play.db.output(run) == [0, 1, 2, 3, 4]
    outputs = {step["name"]: step["output"] for step in play.db.client.run(run)["steps"]}
    assert outputs == {f"s#{i + 1}": i for i in range(5)}


def test_calls_of_one_name_that_overlap_by_chance_end_the_run(play: Lazy) -> None:
    async def pair(ctx: pawl.AsyncContext, i: int) -> None:
        await ctx.step(f"p{i}", asyncio.sleep, 0.03 * i)
        await ctx.step("q", asyncio.sleep, 0.2)

    @play.app.workflow("t.overlap")
    async def overlap(ctx: pawl.AsyncContext) -> None:
        await asyncio.gather(pair(ctx, 1), pair(ctx, 2))

    run = play.run("t.overlap")
    error = play.db.error(run)
    assert error.code == "PAWL_EINVAL"
    assert "overlap" in error.message
    assert "ctx.branch" in error.message


def test_a_step_in_the_loop_is_interrupted_at_its_time_limit(play: Lazy) -> None:
    @play.app.workflow("t.limit")
    async def limit(ctx: pawl.AsyncContext) -> None:
        await ctx.step("slow", asyncio.sleep, 600, timeout=0.05, retry=pawl.Retry(max_attempts=1))

    run = play.run("t.limit")
    assert play.db.error(run).code == "timeout"


def test_a_step_that_the_code_gives_up_has_failed_and_is_retried(play: Lazy) -> None:
    seen: list[int] = []

    async def slow() -> int:
        seen.append(pawl.current().attempt)
        await asyncio.sleep(600 if len(seen) == 1 else 0)
        return len(seen)

    @play.app.workflow("t.give_up")
    async def give_up(ctx: pawl.AsyncContext) -> Any:
        try:
            async with asyncio.timeout(0.05):
                return await ctx.step("slow", slow, retry=pawl.Retry(max_attempts=3, base=0))
        except TimeoutError:
            return await ctx.step("after", lambda: "gave up")

    run = play.run("t.give_up")
    assert play.db.output(run) in ("gave up", 2)
    assert seen[0] == 1


def test_a_task_group_ends_the_run_with_the_failure_of_its_task(play: Lazy) -> None:
    def fail() -> None:
        raise pawl.Permanent("no money", code="no_money")

    @play.app.workflow("t.group")
    async def group(ctx: pawl.AsyncContext) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(ctx.sleep("nap", 600))
            tasks.create_task(ctx.step("pay", fail))

    run = play.run("t.group")
    assert play.db.status(run) == "ERROR"
    assert play.db.error(run).code == "no_money"


def test_tasks_that_are_left_behind_do_no_harm(play: Lazy) -> None:
    contexts: list[pawl.AsyncContext] = []

    @play.app.workflow("t.left")
    async def left(ctx: pawl.AsyncContext) -> str:
        contexts.append(ctx)
        asyncio.ensure_future(ctx.step("background", asyncio.sleep, 0.05))  # noqa: RUF006
        await asyncio.sleep(0)
        return "done"

    run = play.run("t.left")
    assert play.db.output(run) == "done"
    with pytest.raises(pawl.UsageError, match="has ended"):
        _ = contexts[0].id
    with pytest.raises(pawl.UsageError, match="has ended"):
        asyncio.run(contexts[0].sleep("nap", 1))


def test_blocking_steps_and_plain_handlers_have_threads(play: Lazy) -> None:
    def block() -> str:
        time.sleep(0.3)
        return pawl.current().key

    @play.app.workflow("t.blocking")
    async def blocking(ctx: pawl.AsyncContext) -> int:
        keys = await asyncio.gather(*[ctx.step(f"b{i}", pawl.blocking(block)) for i in range(4)])
        return len(set(keys))

    @play.app.workflow("t.plain")
    def plain(ctx: pawl.Context) -> list[int]:
        return ctx.parallel({f"b-{i}": lambda part, i=i: part.step("s", lambda: i) for i in range(3)})

    began = time.monotonic()
    assert play.db.output(play.run("t.blocking")) == 4
    assert play.db.output(play.run("t.plain")) == [0, 1, 2]
    assert time.monotonic() - began < 60


def test_the_first_of_several_waits_decides_and_stays(play: Lazy) -> None:
    @play.app.workflow("t.first")
    async def first(ctx: pawl.AsyncContext) -> list[Any]:
        branch, value = await ctx.first(
            "which",
            answer=lambda part: part.wait_signal("go"),
            late=lambda part: part.sleep("nap", 60),
        )
        await ctx.sleep("more", 600)
        return [branch, value]

    run = play.run("t.first")
    assert play.db.status(run) == "PAUSED"
    play.db.client.signal(run, "go", 5)
    play.db.work()
    play.db.advance(600)
    play.db.work()
    assert play.db.output(run) == ["answer", 5]


def test_what_code_logs_is_stored_with_its_run(play: Lazy) -> None:
    logger = logging.getLogger("shop")
    logger.setLevel(logging.INFO)

    def pack() -> None:
        logger.info("packing %d", 3)

    @play.app.workflow("t.log")
    async def log(ctx: pawl.AsyncContext) -> None:
        logger.warning("begins")
        await ctx.step("pack", pack)
        ctx.progress("order", "done")
        logger.debug("not stored")

    run = play.run("t.log")
    assert [note["body"] for note in play.db.client.notes(run)] == ["begins", "packing 3", "done"]
    logger.info("no run")


class Unpleasant(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    "make",
    [
        lambda: SystemExit(3),
        lambda: KeyboardInterrupt(),
        lambda: GeneratorExit(),
        lambda: Unpleasant(),
        lambda: RuntimeError("x" * 10_000_000),
        lambda: RuntimeError("lone \ud800 surrogate and \0 NUL"),
        lambda: ExceptionGroup("many", [ValueError("one"), pawl.Permanent("two")]),
    ],
    ids=["exit", "interrupt", "generator", "text", "large", "surrogate", "group"],
)
@pytest.mark.parametrize("where", ["loop", "threads"])
def test_unpleasant_exceptions_are_recorded_and_the_worker_continues(play: Lazy, make: Any, where: str) -> None:
    def step() -> None:
        exc = make()
        exc.itself = exc
        raise exc

    if where == "loop":

        @play.app.workflow("t.bad")
        async def bad(ctx: pawl.AsyncContext) -> str:
            try:
                await ctx.step("bad", step, retry=pawl.Retry(max_attempts=1))
            except pawl.StepFailed as exc:
                return str(exc.recorded_code)
            return "no failure"
    else:

        @play.app.workflow("t.bad")
        def bad_plain(ctx: pawl.Context) -> str:
            try:
                ctx.step("bad", step, retry=pawl.Retry(max_attempts=1))
            except pawl.StepFailed as exc:
                return str(exc.recorded_code)
            return "no failure"

    run = play.run("t.bad")
    assert play.db.output(run) in (type(make()).__name__, "ValueError")


def test_an_async_step_in_a_plain_handler_is_an_error_that_helps(play: Lazy) -> None:
    @play.app.workflow("t.mixed")
    def mixed(ctx: pawl.Context) -> Any:
        return ctx.step("s", asyncio.sleep, 0)

    run = play.run("t.mixed")
    assert "async function" in play.db.error(run).message


def test_undos_are_executed_last_step_first(play: Lazy) -> None:
    done: list[Any] = []

    @play.app.undo("refund")
    async def refund(ctx: pawl.UndoContext, amount: int, charge: str) -> None:
        assert pawl.current().key
        done.append((amount, charge, ctx.uncertain))

    @play.app.undo("unpack")
    def unpack(ctx: pawl.UndoContext, what: str, output: Any) -> None:
        done.append((what, output))

    @play.app.workflow("t.saga")
    async def saga(ctx: pawl.AsyncContext) -> None:
        await ctx.step("charge", lambda: "c1", undo=refund.with_input(5))
        await ctx.step("pack", lambda: None, undo=unpack.with_input("box"))
        raise pawl.Permanent("no courier", code="no_courier")

    run = play.run("t.saga")
    assert play.db.status(run) == "ERROR"
    assert play.db.error(run).code == "no_courier"
    assert done == [("box", None), (5, "c1", False)]


def test_an_approval_gives_its_decision(play: Lazy) -> None:
    @play.app.workflow("t.approval")
    async def approval(ctx: pawl.AsyncContext) -> Any:
        try:
            return await ctx.wait_approval("boss", {"amount": 5})
        except pawl.Rejected as exc:
            return ["rejected", exc.decision["by"], exc.decision["why"]]

    yes, no = play.run("t.approval"), play.db.client.trigger("t.approval")
    play.db.work()
    play.db.client.approve(yes, "boss", by="ann", payload={"ok": 1})
    play.db.client.reject(no, "boss", by="bob", why="too much")
    play.db.work()
    assert play.db.output(yes)["payload"] == {"ok": 1}
    assert play.db.output(no) == ["rejected", "bob", "too much"]


def test_a_context_of_threads_has_all_calls(play: Lazy) -> None:
    @play.app.workflow("t.kid")
    def kid(ctx: pawl.Context, n: int) -> int:
        return n + 1

    @play.app.workflow("t.all")
    def everything(ctx: pawl.Context) -> list[Any]:
        one = ctx.step("one", lambda: 1)
        event = ctx.wait_event("paid", "payments", key="k", match={"/id": 7}, timeout=100)
        child = ctx.child("kid", kid, 41)
        detached = ctx.start_child("later", "t.kid", 1)
        pair = ctx.gather(lambda c: c.step("x", lambda: "x"), lambda c: c.sleep("nap", 5))
        which = ctx.first("which", a=lambda c: c.wait_signal("s"), b=lambda c: c.step("b", lambda: "b"))
        new = ctx.changed("new-code")
        return [one, event["id"], child, len(detached), pair, list(which), new]

    run = play.run("t.all")
    play.db.client.emit("payments", {"id": 7}, key="k")
    play.db.work()
    play.db.advance(5)
    play.db.work()
    assert play.db.output(run) == [1, 7, 42, 36, ["x", None], ["b", "b"], True]
