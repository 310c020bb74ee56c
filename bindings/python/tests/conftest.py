# SPDX-License-Identifier: Apache-2.0
"""Tests of the Python binding. The database server is that of libpq's variables."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import pawl
from pawl.testing import TestDatabase, TestServer, _execute, _named

PATIENCE = float(os.environ.get("PAWL_PATIENCE", "1"))
FULL = "PAWL_FULL" in os.environ  # .ci/full sets it
LIMIT = (3600 if FULL else 60) * PATIENCE  # seconds, against hangs


def in_time(what: str, took: float, bound: float) -> None:
    """A bound in seconds. It is a check where PAWL_TIMES=gate; else a late one is a warning."""
    if took > bound:
        text = f"{what} took {took:.2f} s, at most {bound:.2f}"
        assert os.environ.get("PAWL_TIMES") != "gate", text
        warnings.warn(f"# warning: {text}", stacklevel=2)


def drained(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    """Reads what a process prints, so that it never waits for a reader."""
    pipe = process.stderr
    assert pipe is not None
    threading.Thread(target=lambda: [None for _ in pipe], daemon=True).start()
    return process


class Real:
    """A database whose clock runs, for workers in processes of their own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = pawl.Client(url)
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, code: str, cwd: pathlib.Path, *arguments: str, module: str = "shop") -> subprocess.Popen[str]:
        """Starts a worker for the source of an application, and waits until it is registered."""
        (cwd / f"{module}.py").write_text(code)
        command = [sys.executable, "-m", "pawl", "worker", f"{module}:app", "-d", self.url, *arguments]
        process = subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stderr is not None
        for line in process.stderr:
            if "worker registered" in line:
                return drained(process)
        raise AssertionError("the worker has not registered")

    def until(self, check: Callable[[], Any], seconds: float = 30) -> Any:
        """Waits for a condition."""
        until = time.monotonic() + seconds * PATIENCE
        while time.monotonic() < until:
            found = check()
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError("it did not happen in time")

    def connections(self) -> int:
        """Connections to this database, without that of the client."""
        with psycopg.connect(self.url) as connection:
            rows = connection.execute(
                "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
            )
            return int(rows.fetchall()[0][0]) - 1

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
        self.client.close()


class Moved:
    """A database for an application, with a clock that the test moves."""

    def __init__(self, server: TestServer, app: pawl.App, **settings: Any) -> None:
        self.server, self.name = server, server.copy()
        self.db = TestDatabase(app, _named(None, self.name), **settings)

    def __enter__(self) -> TestDatabase:
        return self.db

    def __exit__(self, *_: object) -> None:
        self.db.close()
        self.server.drop(self.name)


@pytest.fixture
def real(pawl_server: TestServer) -> Iterator[Real]:
    name = pawl_server.copy()
    url = _named(None, name)
    _execute(url, "select pawl.test_clock_set(null)")
    database = Real(url)
    yield database
    database.close()
    pawl_server.drop(name)
