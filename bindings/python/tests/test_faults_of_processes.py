# SPDX-License-Identifier: Apache-2.0
"""Faults around workers: kills, a blocked loop, a database that is away, forks, exits, cancels.

With PAWL_FULL in the environment at their full size, for .ci/full. test_frameworks.py has the forks of web servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import FULL, LIMIT, PATIENCE, Moved, Real, in_time
from test_processes import ORDER, lines

import pawl
from pawl.testing import TestServer

LOAD = """
import asyncio, os, pathlib, pawl
app = pawl.App()

async def note(name):
    with open("log", "a") as file: file.write(name + "\\n")
    await asyncio.sleep(0.02)

@app.workflow("p.load")
async def load(ctx: pawl.AsyncContext, n: int) -> int:
    for i in range(3): await ctx.step(f"s{i}", note, f"{n}.{i}")
    return n
"""
AT_ONCE = 8


def lost_sessions(real: Real) -> int:
    return sum(row["ended_why"] == "lost" for row in real.client.call("list_workers", ended=True, max_rows=1000))


def test_workers_that_are_killed_under_load_lose_nothing(real: Real, tmp_path: pathlib.Path) -> None:
    runs, kills = (1000, 20) if FULL else (100, 4)
    settings = ("--set", "lease=1s", "-c", str(AT_ONCE))
    workers = [real.start(LOAD, tmp_path, *settings) for _ in range(2)]
    made = real.client.trigger_many("p.load", list(range(runs)))
    for i in range(kills):
        real.until(lambda: len(lines(tmp_path)) > 3 * runs * (i + 1) // (kills + 1), LIMIT)  # noqa: B023
        workers[i % 2].kill()
        workers[i % 2] = real.start(LOAD, tmp_path, *settings)
    assert [real.client.wait(run, LIMIT) for run in made] == list(range(runs))
    found = lines(tmp_path)
    assert len(set(found)) == 3 * runs
    # At most what was executing at a kill. On a slow machine a live worker can lose its lease, too.
    assert len(found) - 3 * runs <= AT_ONCE * max(kills, lost_sessions(real))


SHORT = """
import pawl
app = pawl.App()

@app.workflow("p.short")
async def short(ctx: pawl.AsyncContext, n: int) -> int:
    return await ctx.step("s", lambda: n)
"""


def test_a_blocked_loop_keeps_its_run_and_no_other(real: Real, tmp_path: pathlib.Path) -> None:
    # The loop is blocked until the other worker has executed every short run, so one that the first keeps would hang the test.
    app, lease, runs = pawl.App(), 10 if FULL else 6, 1000 if FULL else 40
    blocked, enough = threading.Event(), threading.Event()

    def hold() -> int:
        blocked.set()
        enough.wait(LIMIT)
        return 1

    @app.workflow("p.block")
    async def block(ctx: pawl.AsyncContext) -> int:
        await ctx.step("block", hold)
        return ctx.execution

    @app.workflow("p.short")
    async def short(ctx: pawl.AsyncContext, n: int) -> int:
        return await ctx.step("s", lambda: n)

    worker = app.worker(real.url, lease=f"{lease}s", start_timeout="500ms")
    worker.start()
    thread = threading.Thread(target=lambda: asyncio.run(worker.serve()))
    thread.start()
    try:
        stuck = real.client.trigger("p.block")
        assert blocked.wait(LIMIT)
        began = time.monotonic()
        short_runs = real.client.trigger_many("p.short", list(range(runs)))
        real.start(SHORT, tmp_path)
        assert [real.client.wait(run, LIMIT) for run in short_runs] == list(range(runs))
        time.sleep(max(0.0, began + 2 * lease - time.monotonic()))  # the fault itself: two leases
    finally:
        enough.set()
        found = real.client.wait(stuck, LIMIT)
        lost = worker.counter("lease_lost")
        worker.drain()
        thread.join(LIMIT)
    assert (found, lost) == (1, 0)
    assert not thread.is_alive()
    worker.close()


class Proxy:
    """A server's socket in another directory, which can go away and come back."""

    def __init__(self, directory: pathlib.Path) -> None:
        port = os.environ.get("PGPORT", "5432")
        self.path = directory / f".s.PGSQL.{port}"
        self.target = f"{os.environ['PGHOST']}/.s.PGSQL.{port}"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.open: list[socket.socket] = [self.listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(self.target)
                self.open += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=pair, daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)

    def close(self) -> None:
        self.path.unlink()
        for one in self.open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.fixture
def sockets() -> Iterator[pathlib.Path]:
    """A directory whose name is short enough for a socket in it."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="pawl"))
    yield directory
    shutil.rmtree(directory)


def test_a_worker_continues_after_its_database_was_away(real: Real, tmp_path: pathlib.Path, sockets: pathlib.Path) -> None:
    runs, away = (3000, 60) if FULL else (60, 3)
    proxy = Proxy(sockets)
    process = real.start(LOAD, tmp_path, "--set", "lease=2s", "-c", str(AT_ONCE), "-d", f"{real.url} host={sockets}")
    made = real.client.trigger_many("p.load", list(range(runs)))
    real.until(lambda: len(lines(tmp_path)) > 30)
    proxy.close()
    time.sleep(away)  # the fault itself
    back = Proxy(sockets)
    assert [real.client.wait(run, LIMIT) for run in made] == list(range(runs))
    found = lines(tmp_path)
    assert len(set(found)) == 3 * runs
    # At most what was executing when it went, and what was claimed then.
    assert len(found) - 3 * runs <= AT_ONCE * (1 + max(1, lost_sessions(real)))
    process.send_signal(signal.SIGTERM)
    assert process.wait(60 * PATIENCE) == 0
    back.close()


def test_sigterm_ends_a_worker_whose_database_is_gone(real: Real, tmp_path: pathlib.Path, sockets: pathlib.Path) -> None:
    drain_s = 20 if FULL else 2
    (tmp_path / "seconds").write_text("600")
    proxy = Proxy(sockets)
    settings = ("--set", f"drain_timeout={drain_s}s", "--set", "lease=2s")
    process = real.start(ORDER, tmp_path, *settings, "-d", f"{real.url} host={sockets}")
    real.client.trigger("p.order")
    real.until(lambda: "pack" in lines(tmp_path))
    proxy.close()
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(60 * PATIENCE) == 0
    in_time("the end of a worker whose database is gone", time.monotonic() - began, drain_s + 2)
    assert lines(tmp_path)[-1] == "interrupted"


def test_a_fork_gets_another_connection_and_no_worker(real: Real) -> None:
    app = pawl.App()

    @app.workflow("p.pid")
    def pid(ctx: pawl.Context) -> int:
        return os.getpid()

    worker = app.worker(real.url, concurrency=2)
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    real.until(lambda: real.client.call("list_workers"))
    for _ in range(100 if FULL else 3):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with pytest.raises(pawl.UsageError, match="before the fork"):
                    worker.drain()
                code = 0 if real.client.wait(real.client.trigger("p.pid"), LIMIT) == os.getppid() else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert real.client.wait(real.client.trigger("p.pid"), LIMIT) == os.getpid()
    assert lost_sessions(real) == 0  # no child said goodbye for its parent
    worker.drain()
    thread.join(60 * PATIENCE)
    assert not thread.is_alive()


POOL = """
import multiprocessing, os, sys, threading, pawl
app = pawl.App()
client = pawl.Client(sys.argv[2])

@app.workflow("p.pid")
def pid(ctx: pawl.Context) -> int:
    return os.getpid()

def ask(_):
    return client.wait(client.trigger("p.pid"), 600)

if __name__ == "__main__":
    worker = app.worker(sys.argv[2], concurrency=2)
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    with multiprocessing.get_context(sys.argv[1]).Pool(4) as pool:
        assert set(pool.map(ask, range(int(sys.argv[3])))) == {os.getpid()}
        pool.close()
        pool.join()
    assert ask(0) == os.getpid()
    worker.drain()
    thread.join()
"""


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes_of_multiprocessing_have_their_own_connections(real: Real, tmp_path: pathlib.Path, way: str) -> None:
    real.client.call("create_workflow", name="p.pid")
    (tmp_path / "pool.py").write_text(POOL)
    command = [sys.executable, "pool.py", way, real.url, "1000" if FULL else "8"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=LIMIT)
    real.until(lambda: real.connections() == 0)


@pytest.mark.parametrize("end", ["sys.exit(0)", "raise KeyboardInterrupt", "del worker, client; gc.collect()", "os.kill(os.getpid(), 15)"])
@pytest.mark.parametrize("handler", ["async def", "def"])
def test_the_interpreter_may_exit_at_any_moment(real: Real, end: str, handler: str) -> None:
    code = """
import asyncio, gc, os, sys, threading, time, pawl
app = pawl.App()
@app.workflow("p.exit")
%s handle(ctx):
    gc.collect()
    return 1
client = pawl.Client(%r)
worker = app.worker(%r, concurrency=2)
worker.start()
if worker.is_async:
    threading.Thread(target=asyncio.run, args=(worker.serve(),), daemon=True).start()
else:
    for _ in range(2): threading.Thread(target=worker._work, daemon=True).start()
client.trigger_many("p.exit", [1] * 50)
time.sleep(%r)
print(time.monotonic(), flush=True)
%s
"""
    real.client.call("create_workflow", name="p.exit")
    for moment in [i / 50 for i in range(20)] if FULL else [0.0, 0.05]:
        text = code % (handler, real.url, real.url, moment, end)
        command = [sys.executable, "-X", "dev", "-c", text]
        process = subprocess.run(command, capture_output=True, text=True, timeout=60 * PATIENCE, check=False)
        in_time(f"{end} after {moment} s", time.monotonic() - float(process.stdout), 2)
        assert process.returncode in (0, 1, -2, -15), process.stderr
        assert "Fatal" not in process.stderr
    real.until(lambda: real.connections() == 0)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_dropped_objects_leave_no_connection(real: Real) -> None:
    app = pawl.App()

    @app.workflow("p.drop")
    async def drop(ctx: pawl.AsyncContext) -> int:
        return 1

    for _ in range(100 if FULL else 5):
        cycle: list[Any] = [pawl.Client(real.url), app.worker(real.url)]
        cycle.append(cycle)
        cycle[1].start()
        cycle[0].call("list_workers")
        del cycle
    gc.collect()
    real.until(lambda: real.connections() == 0)


def test_a_collection_in_every_step_frees_nothing_that_is_used(pawl_server: TestServer) -> None:
    app = pawl.App()

    def collect(n: int) -> int:
        return n + 0 * gc.collect()

    @app.workflow("p.kid")
    def kid(ctx: pawl.Context, n: int) -> int:
        return sum(ctx.parallel({f"b{i}": lambda b, i=i: b.step("s", collect, n + i) for i in range(3)}))

    @app.workflow("p.collect")
    async def collected(ctx: pawl.AsyncContext, n: int) -> int:
        several = await asyncio.gather(*[ctx.step("s", collect, n + i) for i in range(3)])
        await ctx.sleep("nap", 1)
        return int(sum(several) + await ctx.child("kid", kid, n))

    before = gc.get_threshold()
    gc.set_threshold(5)
    try:
        with Moved(pawl_server, app) as db:
            db.client.call("create_workflow", name="p.kid")
            runs = [collected.trigger(db, n) for n in range(100 if FULL else 5)]
            db.work(LIMIT)
            db.advance(1)
            db.work(LIMIT)
            assert [db.output(run) for run in runs] == [6 * n + 6 for n in range(len(runs))]
    finally:
        gc.set_threshold(*before)


CALL = """
import asyncio, sys, time, httpx, pawl
app = pawl.App()

def note(text):
    with open("log", "a") as file: file.write(f"{text} {time.monotonic()}\\n")

@app.undo("refund")
async def refund(ctx, amount, output): note("refund")

async def call(url):
    note("call")
    try:
        async with httpx.AsyncClient(timeout=None) as http: await http.get(url)
    except asyncio.CancelledError:
        note("interrupted")
        raise

@app.workflow("p.call")
async def order(ctx: pawl.AsyncContext, url: str) -> None:
    await ctx.step("charge", int, undo=refund.with_input(1))
    await ctx.step("call", call, url)
"""


def test_a_cancel_interrupts_an_http_call_and_undos_run(real: Real, tmp_path: pathlib.Path) -> None:
    cancels, lease = (20, 30) if FULL else (2, 3)
    silent = socket.create_server(("127.0.0.1", 0))  # accepts and never answers
    url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
    real.start(CALL, tmp_path, "--set", f"lease={lease}s")
    for n in range(cancels):
        run = real.client.trigger("p.call", url)
        real.until(lambda: len(lines(tmp_path)) == 6 * n + 2)  # noqa: B023
        connection, _ = silent.accept()
        time.sleep(lease / 3 * n / cancels)  # another moment between two heartbeats
        began = time.monotonic()
        real.client.cancel(run, "changed my mind", rollback=True)
        real.until(lambda: real.client.run(run)["status"] == "CANCELLED", 2 * lease + 30)  # noqa: B023
        words = lines(tmp_path)[6 * n :]
        assert words[::2] == ["call", "interrupted", "refund"]
        in_time("the cancel of an awaited call", float(words[3]) - began, lease / 3 + 0.1)
        while connection.recv(65536):  # the request, then the end
            pass
        connection.close()
    silent.close()
