# SPDX-License-Identifier: Apache-2.0
"""For tests of workflows: a throwaway database whose clock the test moves, and a worker that executes runs in work().

With pytest, define a fixture ``pawl_app`` that returns your application, and use ``pawl_db``:

    @pytest.fixture
    def pawl_app():
        return shop.app

    def test_reminder(pawl_db):
        run = shop.order.trigger(pawl_db, shop.Order(id=1))
        pawl_db.work()
        pawl_db.advance(days=3)
        pawl_db.work()
        assert pawl_db.status(run) == "SUCCESS"

The server is that of PAWL_TEST_DATABASE, or of libpq's own variables; the role must be allowed to
create databases.
"""

from __future__ import annotations

import asyncio
import datetime
import os
import time
import urllib.parse
import uuid
from collections.abc import Sequence
from typing import Any

from ._aio import Loop
from ._app import App
from ._client import Client, engine_script, install
from ._lib import DRAINED, ETIMEOUT, OK, check, ffi, lib, make_config, raise_error
from ._worker import Worker

__all__ = ["RecordedError", "TestDatabase", "TestServer"]


def _named(database: str | None, name: str) -> str:
    """A connection string with another database name."""
    given = database or os.environ.get("PAWL_TEST_DATABASE") or ""
    if "://" in given:
        return urllib.parse.urlsplit(given)._replace(path=f"/{name}").geturl()
    if "=" not in given:
        given = ""
    return f"{given} dbname={name}".strip()


def _execute(database: str, script: str) -> None:
    slot = ffi.new("pawl_error **")
    check(lib.pawl_admin_script(make_config(database, {}), script.encode(), slot), slot)


class RecordedError:
    """The error of a run: code and message, and the whole as detail."""

    def __init__(self, detail: dict[str, Any]) -> None:
        """Made by TestDatabase.error()."""
        self.detail = detail
        self.code = str(detail.get("code", ""))
        self.message = str(detail.get("message", ""))

    def __repr__(self) -> str:
        return f"<RecordedError {self.code}: {self.message}>"


class TestServer:
    """A template database with the engine and the test clock, from which each test gets a copy."""

    __test__ = False

    def __init__(self, database: str | None = None) -> None:
        """Makes the template, in about a second."""
        self.database = database
        self.template = f"pawl_template_{uuid.uuid4().hex[:12]}"
        _execute(_named(database, "postgres"), f"create database {self.template} template template0 encoding 'UTF8'")
        install(_named(database, self.template), test_clock=True)

    def close(self) -> None:
        """Drops the template."""
        _execute(_named(self.database, "postgres"), f"drop database if exists {self.template} with (force)")

    def copy(self) -> str:
        """Makes a database for one test and returns its name."""
        name = f"pawl_test_{uuid.uuid4().hex[:12]}"
        _execute(_named(self.database, "postgres"), f"create database {name} template {self.template}")
        return name

    def drop(self, name: str) -> None:
        """Drops the database of a test."""
        _execute(_named(self.database, "postgres"), f"drop database if exists {name} with (force)")


class TestDatabase:
    """A database for one test, with a clock that stands still until it is moved, and a worker for an application."""

    __test__ = False

    def __init__(self, app: App, database: str, **settings: Any) -> None:
        """Makes a client and a worker for a database that has the engine and the test clock."""
        self.app = app
        self.database = database
        self.client = Client(database, codec=app.payloads.codec)
        self._settings = settings
        self._worker: Worker | None = None
        self._side: Loop | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __pawl_fetch__(self, columns: str, verb: str, arguments: dict[str, str]) -> list[Sequence[Any]]:
        """Lets workflow.trigger(pawl_db, …) and pawl.emit(pawl_db, …) use the client."""
        self.worker.start()  # which creates the workflows of the application
        return self.client.__pawl_fetch__(columns, verb, arguments)

    @property
    def worker(self) -> Worker:
        """The worker; it is made when it is first asked for."""
        if self._worker is None:
            self._worker = Worker(self.app, self.database, **{"start_timeout": "0", **self._settings})
            self._worker.start()
        return self._worker

    def work(self, timeout: float = 60.0) -> None:
        """Executes runs until none can continue: all have ended, or wait for time, an event, a signal or a person."""
        if not self.worker.is_async:
            self._work_here(timeout)
            return
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self.work_async(timeout))

    def _work_here(self, timeout: float) -> None:
        """Executes plain handlers on this thread."""
        handle, run, slot = self.worker.handle, ffi.new("pawl_run **"), ffi.new("pawl_error **")
        until = time.monotonic() + timeout
        while True:
            status = lib.pawl_worker_next(handle, 2, run, slot)
            if status == OK:
                self.worker.execute(run[0])
            elif status == DRAINED and self.worker.counter("held") > 0:
                time.sleep(0.002)  # until the results are recorded
            elif status == DRAINED or (status == ETIMEOUT and lib.pawl_test_idle(handle)):
                break
            elif status != ETIMEOUT:
                raise_error(status, slot)
            if time.monotonic() > until:
                raise TimeoutError("runs can still continue")
        self.worker.take_log()

    async def work_async(self, timeout: float = 60.0) -> None:
        """Does what work() does, inside a test that is a coroutine."""
        loop = asyncio.get_running_loop()
        if self._side is None or self._side.loop is not loop:
            self._side = Loop(self.worker)
            lib.pawl_worker_notice(self.worker.handle, self._side._slot, self._side._reason)
            loop.add_reader(lib.pawl_worker_fd(self.worker.handle), self._side.readable)
        side, until = self._side, time.monotonic() + timeout
        while True:
            side.readable()
            if side.drained.done():
                side.drained.result()  # raises what ended the worker
            if side.drained.done() and not side.lives and self.worker.counter("held") == 0:
                return
            if not side.drained.done() and not side.lives and not side.blocking and lib.pawl_test_idle(self.worker.handle):
                return
            if time.monotonic() > until:
                raise TimeoutError("runs can still continue")
            await asyncio.sleep(0.002)

    def restart_worker(self, app: App | None = None) -> None:
        """Ends the worker. The next work() makes another one, for another application if one is given."""
        if self._worker is not None:
            worker, side, self._worker, self._side = self._worker, self._side, None, None
            if side is not None:
                side.loop.remove_reader(lib.pawl_worker_fd(worker.handle))
                side.close()
            worker._stop_quietly()
            worker.close()
        self.app = app or self.app

    def advance(self, seconds: float = 0.0, **units: float) -> None:
        """Moves the clock: ``advance(90)``, ``advance(days=3)``, ``advance(hours=1, minutes=30)``."""
        self.client.advance(datetime.timedelta(seconds=seconds, **units))

    def status(self, run: str) -> str:
        """The state of a run: QUEUED, RUNNING, PAUSED, SUCCESS, ERROR or CANCELLED."""
        return str(self.client.run(run)["status"])

    def output(self, run: str, kind: Any = None) -> Any:
        """The output of a run that succeeded. Raises PawlError for any other."""
        return self.client.wait(run, 0, kind=kind)

    def error(self, run: str) -> RecordedError:
        """The error of a run that failed."""
        return RecordedError(self.client.run(run)["error"] or {})

    def steps(self, run: str) -> list[str]:
        """The names of the steps, waits, children and undos of a run, in the order in which they started."""
        return [str(step["name"]) for step in self.client.run(run)["steps"] or []]

    def close(self) -> None:
        """Ends the worker and the client."""
        self.restart_worker()
        if self._loop is not None:
            self._loop.close()
            self._loop = None
        self.client.close()


def has_engine() -> bool:
    """Whether this package carries the engine, which tests install."""
    try:
        engine_script()
    except Exception:
        return False
    return True
