# SPDX-License-Identifier: Apache-2.0
"""Mistakes of a program: each is an error of the call that it is in, and no run hangs because of it."""

from __future__ import annotations

import asyncio
import datetime
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from conftest import LIMIT, PATIENCE, Moved, Real

import pawl
from pawl import _worker
from pawl.testing import TestServer

FORMS = ["loop", "threads"]


class Running:
    """A worker that a thread runs, and what that ended with."""

    def __init__(self, worker: pawl.Worker) -> None:
        self.failed: list[BaseException] = []
        worker.start()
        self.thread = threading.Thread(target=self._run, args=(worker,), daemon=True)
        self.thread.start()
        self.drain = worker.drain

    def _run(self, worker: pawl.Worker) -> None:
        try:
            worker.run(signals=False)
        except BaseException as exc:
            self.failed.append(exc)

    def join(self) -> list[BaseException]:
        """Waits for the end of the worker."""
        self.thread.join(LIMIT)
        assert not self.thread.is_alive()
        return self.failed


TODAY = datetime.date(2026, 1, 2)  # which json.dumps() refuses
SECRET = "4711-secret"


class Locked:
    """A codec whose key service is away, for what has the secret."""

    def encode(self, data: bytes) -> bytes:
        if SECRET.encode() in data:
            raise ConnectionError(f"no key for {data!r}")
        return json.dumps(data.hex()).encode()

    def decode(self, data: bytes) -> bytes:
        return bytes.fromhex(json.loads(data))


class Broken(pawl.Failure):
    def __str__(self) -> str:
        return "broken"

    @property
    def code(self) -> str:
        raise LookupError("no code")

    @code.setter
    def code(self, value: object) -> None:
        pass


def deep() -> BaseException:
    """A group that is nested deeper than Python recurses."""
    made: BaseException = ValueError("inside")
    for _ in range(3 * sys.getrecursionlimit()):
        made = ExceptionGroup("group", [made])  # type: ignore[list-item]
    return made


# An exception, the minutes until the retry, the code and the message that are recorded; None: not compared.
RAISED: dict[str, tuple[Callable[[], BaseException], float, str | None, str | None]] = {
    "timedelta": (lambda: pawl.RetryAfter(datetime.timedelta(minutes=1), "later"), 1, "RetryAfter", "later"),
    "seconds": (lambda: pawl.RetryAfter(60.0, "later"), 1, "RetryAfter", "later"),
    "whole": (lambda: ExceptionGroup("two", [pawl.RetryAfter(60), pawl.RetryAfter(datetime.timedelta(minutes=2))]), 2, "RetryAfter", ""),
    "infinite": (lambda: pawl.RetryAfter(math.inf, "never"), 0, "RetryAfter", "never"),
    "huge": (lambda: pawl.RetryAfter(1e300, "never"), 0, "RetryAfter", "never"),
    "no number": (lambda: pawl.RetryAfter("60", "later"), 0, "RetryAfter", "later"),  # type: ignore[arg-type]
    "deep": (deep, 0, None, None),
    "no code": (lambda: Broken("broken"), 0, "Broken", "(the error could not be stored: LookupError)"),
}


@pytest.mark.parametrize("where", ["step", "handler"])
@pytest.mark.parametrize("form", FORMS)
def test_whatever_an_exception_says_its_attempt_fails_and_the_next_one_comes(pawl_server: TestServer, form: str, where: str) -> None:
    app = pawl.App()
    attempts: dict[str, int] = {}

    def work(what: str) -> str:
        attempts[what] = attempts.get(what, 0) + 1
        if attempts[what] == 1:
            raise RAISED[what][0]()
        return "done"

    twice = pawl.Retry(max_attempts=2, base=0)

    async def in_loop(ctx: pawl.AsyncContext, what: str) -> str:
        return await ctx.step("work", work, what, retry=twice) if where == "step" else work(what)

    def in_threads(ctx: pawl.Context, what: str) -> str:
        return ctx.step("work", work, what, retry=twice) if where == "step" else work(what)

    app.workflow("m.raised")(in_loop if form == "loop" else in_threads)
    with Moved(pawl_server, app) as db:
        db.client.call("create_workflow", name="m.raised", max_attempts=2, base=datetime.timedelta(0), jitter=0)
        runs = {what: db.client.trigger("m.raised", what) for what in RAISED}
        db.work()
        found = {what: db.client.call("history", run=run) for what, run in runs.items()}
        db.advance(1)
        db.work()
        for minute in range(3):
            ended = {what for what, run in runs.items() if db.status(run) == "SUCCESS"}
            assert ended == {what for what, (_, minutes, _, _) in RAISED.items() if minutes <= minute}
            db.advance(minutes=1)
            db.work()
    assert attempts == dict.fromkeys(RAISED, 2)
    for what, (_, _, code, message) in RAISED.items():
        failed = next(row["detail"] for row in found[what] if row["what"] == "attempt_failed")
        assert code is None or failed["error"]["code"] == code
        assert message is None or failed["error"]["message"] == message


@pytest.mark.parametrize("where", ["step", "handler"])
@pytest.mark.parametrize("form", FORMS)
def test_an_error_that_the_codec_cannot_encode_is_not_stored_as_it_is(pawl_server: TestServer, form: str, where: str) -> None:
    app = pawl.App(codec=Locked())

    def work() -> str:
        raise pawl.Permanent(f"card {SECRET}", code="declined")

    async def in_loop(ctx: pawl.AsyncContext) -> str:
        return await ctx.step("work", work) if where == "step" else work()

    def in_threads(ctx: pawl.Context) -> str:
        return ctx.step("work", work) if where == "step" else work()

    app.workflow("m.locked")(in_loop if form == "loop" else in_threads)
    with Moved(pawl_server, app) as db:
        db.worker.start()  # which creates the workflow
        run = db.client.trigger("m.locked", {})
        db.work()
        assert (db.status(run), db.error(run).code) == ("ERROR", "declined")
        assert db.error(run).message == "(the error could not be stored: ConnectionError)"
        assert SECRET not in json.dumps(db.client.call("history", run=run), default=str)


@pytest.mark.parametrize("form", FORMS)
def test_an_error_outside_of_all_handlers_ends_its_run_and_the_worker(real: Real, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = pawl.App()

    @app.workflow("m.fine")
    async def fine(ctx: pawl.AsyncContext) -> str:
        return "fine"

    @app.workflow("m.plain")
    def plain(ctx: pawl.Context) -> str:
        return "plain"

    if form == "threads":
        del app.workflows["m.fine"]

    def broken(*arguments: object) -> Any:
        raise MemoryError("no handler was looked for")

    worker = app.worker(real.url, concurrency=2)
    if form == "threads":
        monkeypatch.setattr(app, "find", broken)
    else:
        monkeypatch.setattr("pawl._aio.AsyncContext", broken)
    name = "m.fine" if form == "loop" else "m.plain"
    real.client.call("create_workflow", name=name, max_attempts=1)
    running = Running(worker)
    found = real.client.trigger(name)
    assert [type(exc) for exc in running.join()] == [MemoryError]
    row = real.client.run(found)
    assert (row["status"], row["error"]["code"]) == ("ERROR", "MemoryError")
    worker.close()


# What a call cannot send, in a handler that goes on.
async def refused(call: Any, *kinds: type[BaseException]) -> None:
    with pytest.raises(kinds):
        await call


async def mistakes(ctx: pawl.AsyncContext) -> None:
    lists: Any = [TODAY]
    await refused(ctx.wait_event("w", "topic", match={"/d": TODAY}), TypeError)
    await refused(ctx.wait_event("w\ud800", "topic"), UnicodeEncodeError)
    await refused(ctx.wait_event("w", "to\0pic"), pawl.UsageError)
    await refused(ctx.wait_event("w", "topic", key="a\0b"), pawl.UsageError)
    await refused(ctx.wait_event("w", "topic", timeout=math.inf), OverflowError)
    await refused(ctx.step("s\ud800", lambda: 1), UnicodeEncodeError)
    await refused(ctx.step("s\0", lambda: 1), pawl.UsageError)
    await refused(ctx.step("s", lambda: 1, timeout=math.nan), ValueError)
    await refused(ctx.step("s", lambda: 1, undo=pawl.Compensation("undo", object())), TypeError)
    await refused(ctx.transaction("t\ud800", None, lambda c: asyncio.sleep(0)), UnicodeEncodeError)
    await refused(ctx.transaction("t", None, lambda c: asyncio.sleep(0), timeout=math.inf), OverflowError)
    await refused(ctx.sleep("n\0", 1), pawl.UsageError)
    await refused(ctx.sleep("n", 1e300), OverflowError)
    await refused(ctx.wait_signal("g\ud800"), UnicodeEncodeError)
    await refused(ctx.wait_approval("p", lists[0].today), TypeError)
    await refused(ctx.changed("c\0"), pawl.UsageError)
    await refused(ctx.child("k", "m.kid", metadata={"at": TODAY}), TypeError)
    await refused(ctx.child("k", "m.kid\0", {}), pawl.UsageError)
    await refused(ctx.child("k", "m.kid", {}, limit_key="a\0"), pawl.UsageError)
    await refused(ctx.start_child("k", "m.kid", metadata={"at": TODAY}), TypeError)
    await refused(ctx.start_child("k", "m.kid", object()), TypeError)
    with pytest.raises(pawl.UsageError):
        ctx.branch("b\0")


def test_a_call_that_cannot_be_sent_is_over_and_its_name_is_free(pawl_server: TestServer) -> None:
    app = pawl.App()

    @app.workflow("m.kid")
    async def kid(ctx: pawl.AsyncContext) -> str:
        return "kid"

    @app.workflow("m.caught")
    async def caught(ctx: pawl.AsyncContext) -> list[Any]:
        for _ in range(3):
            await mistakes(ctx)
        found = [await ctx.step("s", lambda: 1, timeout=5), await ctx.child("k", "m.kid")]
        await ctx.sleep("n", 60)
        return found

    @app.workflow("m.uncaught")
    async def uncaught(ctx: pawl.AsyncContext) -> None:
        await ctx.wait_event("w", "topic", match={"/d": TODAY})

    with Moved(pawl_server, app) as db:
        db.client.call("create_workflow", name="m.uncaught", max_attempts=1)
        db.worker.start()  # which creates the others
        runs = [db.client.trigger("m.caught"), db.client.trigger("m.uncaught")]
        db.work(20 * PATIENCE)
        db.advance(60)
        db.work(20 * PATIENCE)
        assert [db.status(run) for run in runs] == ["SUCCESS", "ERROR"]
        assert db.output(runs[0]) == [1, "kid"]
        assert db.error(runs[1]).code == "TypeError"
        assert db.steps(runs[0]) == ["s#1", "k#1", "n#1"]


def test_a_worker_ends_in_time_whatever_its_calls_do(real: Real) -> None:
    # A call that never ends, as a defect of the binding would leave it.
    app = pawl.App()

    @app.workflow("m.stuck")
    async def stuck(ctx: pawl.AsyncContext) -> None:
        ctx._take("never")

    worker = app.worker(real.url, concurrency=2, drain_timeout="1s")
    running = Running(worker)
    run = real.client.trigger("m.stuck")
    real.until(lambda: real.client.run(run)["status"] == "RUNNING")
    running.drain()
    assert running.join() == []
    assert real.client.run(run)["status"] == "QUEUED"


@pytest.mark.parametrize("form", FORMS)
def test_options_of_a_call_that_failed_are_not_those_of_the_next_one(pawl_server: TestServer, form: str) -> None:
    app = pawl.App()

    def slow() -> str:
        time.sleep(0.2)
        pawl.current().check()
        return "no limit"

    once = pawl.Retry(max_attempts=1)
    undo = pawl.Compensation("m.none", object())

    async def in_loop(ctx: pawl.AsyncContext) -> str:
        await refused(ctx.step("a\ud800", slow, timeout=0.05), UnicodeEncodeError)
        await refused(ctx.step("a", slow, timeout=0.05, undo=undo), TypeError)
        await refused(ctx.wait_event("w", "t\ud800", key="k", match={"/a": 1}), UnicodeEncodeError)
        await refused(ctx.child("k", "m.kid", object(), priority=3, metadata={"a": 1}), TypeError)
        return await ctx.step("b", pawl.blocking(slow), retry=once)

    def in_threads(ctx: pawl.Context) -> str:
        with pytest.raises(UnicodeEncodeError):
            ctx.step("a\ud800", slow, timeout=0.05)
        with pytest.raises(TypeError):
            ctx.step("a", slow, timeout=0.05, undo=undo)
        with pytest.raises(UnicodeEncodeError):
            ctx.transaction("a\ud800", None, lambda c: None, timeout=0.05)
        with pytest.raises(UnicodeEncodeError):
            ctx.wait_event("w", "t\ud800", key="k", match={"/a": 1})
        with pytest.raises(OverflowError):
            ctx.wait_event("w", "t", key="k", timeout=math.inf)
        with pytest.raises(TypeError):
            ctx.child("k", "m.kid", object(), priority=3, metadata={"a": 1})
        with pytest.raises(TypeError):
            ctx.start_child("k", "m.kid", object(), priority=3, delay=5)
        return ctx.step("b", slow, retry=once)

    app.workflow("m.options")(in_loop if form == "loop" else in_threads)
    with Moved(pawl_server, app) as db:
        db.client.call("create_workflow", name="m.options", max_attempts=1)
        run = db.client.trigger("m.options")
        db.work()
        assert (db.status(run), db.error(run).message) == ("SUCCESS", "")
        assert db.output(run) == "no limit"


def test_a_text_with_nul_is_refused_and_never_cut(pawl_server: TestServer) -> None:
    app = pawl.App()
    lines: list[Any] = []

    @app.workflow("m.nul")
    def nul(ctx: pawl.Context) -> None:
        ctx.log("a\0b")
        ctx.progress("p", "c\0d")
        for call in (
            lambda: ctx.progress("p\0q", "text"),
            lambda: ctx.step("s\0t", lambda: 1),
            lambda: ctx.sleep("s\0t", 1),
            lambda: ctx.wait_event("w", "a\0b"),
            lambda: ctx.wait_event("w", "a", key="a\0b"),
            lambda: ctx.wait_signal("g\0"),
            lambda: ctx.wait_approval("g\0"),
            lambda: ctx.child("c\0", "m.nul"),
            lambda: ctx.start_child("c", "m.nul\0x"),
            lambda: ctx.branch("b\0"),
            lambda: ctx.changed("c\0"),
        ):
            with pytest.raises(pawl.UsageError, match="NUL"):
                call()

    with Moved(pawl_server, app) as db:
        client = db.client
        db.worker.start()
        run = client.trigger("m.nul", {"kept": "a\0b"}, metadata={"kept": "c\0d"})
        bad: list[Callable[[], Any]] = [
            lambda: client.trigger("m.nul", {}, key="order\0 1"),
            lambda: client.trigger("m.nul\0-other", {}),
            lambda: client.trigger("m.nul", {}, tenant="a\0"),
            lambda: client.trigger("m.nul", {}, limit_key="a\0"),
            lambda: client.trigger_many("m.nul", [{}], keys=["a\0b"]),
            lambda: client.emit("topic\0"),
            lambda: client.emit("topic", key="a\0b"),
            lambda: client.emit("topic", tenant="a\0b"),
            lambda: client.signal(run, "go\0"),
            lambda: client.signal(run + "\0", "go"),
            lambda: client.approve(run, "go\0"),
            lambda: client.cancel(run, "why\0not"),
            lambda: client.wait(run + "\0", 0),
            lambda: client.wait_any([run + "\0"], 0),
            lambda: client.run(run + "\0"),
            lambda: client.call("why\0", run=run),
            lambda: client.call("why", **{"run\0": run}),
            lambda: next(client.runs(key="a\0b")),
            lambda: pawl.Client(db.database + "\0 dbname=other"),
            lambda: app.worker(db.database, lease="10s\0"),
            lambda: db.worker.counter("held\0"),
        ]
        for call in bad:
            with pytest.raises(pawl.UsageError, match="NUL"):
                call()
        db.work()
        assert (db.status(run), db.error(run).message) == ("SUCCESS", "")
        row = client.run(run)
        assert (row["input"], row["metadata"]) == ({"kept": "a\0b"}, {"kept": "c\0d"})
        lines += [note["body"] for note in client.notes(run)]
    assert lines == ["a\ufffdb", "c\ufffdd"]


def test_a_client_that_a_thread_uses_at_a_fork_works_in_the_child(real: Real) -> None:
    app = pawl.App()
    app.workflow("m.fork")(lambda ctx: None)
    real.client.call("create_workflow", name="m.fork")
    run = real.client.trigger("m.fork")
    stop = threading.Event()

    def use() -> None:
        while not stop.is_set():
            try:
                real.client.wait(run, 0.5)
            except pawl.PawlError as exc:
                assert exc.code == "PAWL_ETIMEOUT"

    thread = threading.Thread(target=use, daemon=True)
    thread.start()
    try:
        real.until(lambda: not real.client._lock.acquire(blocking=False) or real.client._lock.release())
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(int(20 * PATIENCE))
                code = 0 if real.client.trigger("m.fork").created else 2
                real.client.close()
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join(LIMIT)
    assert real.client.trigger("m.fork").created


@pytest.mark.parametrize("form", FORMS)
def test_a_handler_that_closes_its_worker_is_told_that_it_cannot(real: Real, form: str) -> None:
    app = pawl.App()
    workers: list[pawl.Worker] = []

    async def in_loop(ctx: pawl.AsyncContext) -> None:
        workers[0].close()

    def in_threads(ctx: pawl.Context) -> None:
        workers[0].close()

    app.workflow("m.close")(in_loop if form == "loop" else in_threads)
    workers.append(app.worker(real.url, concurrency=2))
    real.client.call("create_workflow", name="m.close", max_attempts=1)
    running = Running(workers[0])
    for _ in range(2):  # it goes on
        with pytest.raises(pawl.PawlError, match="the worker is executing runs"):
            real.client.wait(real.client.trigger("m.close"), LIMIT)
    running.drain()
    assert running.join() == []
    with pytest.raises(pawl.UsageError, match="closed"):
        workers[0].run(signals=False)


def test_a_worker_whose_thread_still_executes_a_handler_is_not_freed(real: Real, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    app = pawl.App()
    began, go, ended = threading.Event(), threading.Event(), threading.Event()
    freed: list[Any] = []
    library = _worker.lib

    @app.workflow("m.loop")
    async def loop(ctx: pawl.AsyncContext) -> None:
        pass

    @app.workflow("m.blocks")
    def blocks(ctx: pawl.Context) -> None:
        began.set()
        go.wait(LIMIT)
        try:
            ctx.step("s", lambda: 1)
        finally:
            ended.set()

    class Library:
        def __getattr__(self, name: str) -> Any:
            return freed.append if name == "pawl_worker_free" else getattr(library, name)

    monkeypatch.setattr(_worker, "lib", Library())
    worker = app.worker(real.url, concurrency=2, drain_timeout="500ms")
    running = Running(worker)
    real.client.trigger("m.blocks")
    assert began.wait(LIMIT)
    running.drain()
    assert running.join() == []
    assert (freed, worker.handle) == ([], None)
    assert "is not freed: 1 handlers have not ended" in caplog.text
    go.set()
    assert ended.wait(LIMIT)


def test_a_tracer_that_fails_does_not_fail_the_step(pawl_server: TestServer, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tracing:
        def current(self) -> dict[str, str]:
            return {}

        def enter(self, traceparent: str) -> object:
            if "enter" in fails:
                raise RuntimeError("enter")
            return None

        def leave(self, token: Any) -> None:
            raise RuntimeError("leave")

    app, fails = pawl.App(), ["enter"]

    @app.workflow("m.traced")
    async def traced(ctx: pawl.AsyncContext) -> list[int]:
        found = [await ctx.step("a", lambda: 1)]
        fails.clear()
        return [*found, await ctx.step("b", lambda: 2)]

    monkeypatch.setattr("pawl._trace.tracing", Tracing())
    with Moved(pawl_server, app) as db:
        run = traced.trigger(db)
        db.work(20 * PATIENCE)
        assert db.output(run) == [1, 2]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nope:app", "there is no module nope, neither in {here} nor where Python looks for modules"),
        ("shop.nope:app", "there is no module shop.nope, neither in"),
        ("shop", "shop does not exist; did you mean shop:orders?"),
        ("shop:other", "shop:other does not exist; did you mean shop:orders?"),
        ("shop:name", "shop:name is not a pawl.App"),
        (":app", '":app" is not MODULE:APP'),
    ],
)
def test_a_mistyped_application_is_one_sentence(target: str, message: str, tmp_path: pathlib.Path) -> None:
    """And not a traceback, which only an error inside of the module deserves."""
    (tmp_path / "shop.py").write_text("import pawl\norders = pawl.App()\nname = 'x'\n")
    (tmp_path / "broken.py").write_text("import not_there_at_all\n")

    def worker(target: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pawl", "worker", target, "-d", "host=/nowhere"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT)

    done = worker(target)
    assert done.returncode == 1
    assert done.stderr.startswith("pawl: " + message.format(here=tmp_path))
    assert done.stderr.count("\n") == 1
    assert "Traceback" in worker("broken:app").stderr


def test_every_text_for_the_library_passes_the_check() -> None:
    """A call of the library that takes a text gets it from c_text(). A new encode() here needs a reason, as these have."""
    package = pathlib.Path(pawl.__file__).parent
    allowed = {
        "_client.py": 5,  # inputs and payloads, which have a size, and the engine's own scripts
        "_context.py": 2,  # names of options, and JSON
        "_lib.py": 2,  # c_text() itself, and a message with a size
        "testing.py": 1,  # SQL of its own
    }
    data = ("_codec.py", "_errors.py")  # make JSON, which has a size
    found = {path.name: path.read_text().count(".encode(") for path in package.glob("*.py") if path.name not in data}
    assert {name: count for name, count in found.items() if count} == allowed
