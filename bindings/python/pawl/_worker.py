# SPDX-License-Identifier: Apache-2.0
"""Workers: claim runs and execute the handlers of an application, in an event loop or in threads."""

from __future__ import annotations

import _thread
import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

from ._aio import Loop
from ._context import Context, Step, UndoContext, _current, _handler, log_here
from ._errors import LeaseLost, PawlError, RunCancelled, Suspended, UsageError
from ._lib import (
    DRAINED,
    ECANCELLED,
    ELEASE_LOST,
    ETIMEOUT,
    EXECUTE,
    NONE,
    NULL,
    OK,
    SUSPENDED,
    Pointer,
    c_text,
    check,
    data_of,
    ffi,
    lib,
    make_config,
    raise_error,
    set_error,
    set_message,
    text,
    version,
)
from ._seconds import Seconds, milliseconds

if TYPE_CHECKING:
    from ._app import App

logger = logging.getLogger("pawl")
_levels = {
    lib.PAWL_LOG_ERROR: logging.ERROR,
    lib.PAWL_LOG_WARNING: logging.WARNING,
    lib.PAWL_LOG_INFO: logging.INFO,
    lib.PAWL_LOG_DEBUG: logging.DEBUG,
}


class RunLog(logging.Handler):
    """Stores what code of a run logs, at INFO and above, with the run. A worker adds it to the root logger."""

    def emit(self, record: logging.LogRecord) -> None:
        """Stores a record; lines of the worker itself are not of a run."""
        if record.name != "pawl":
            try:
                log_here(self.format(record))
            except Exception:
                self.handleError(record)


class Worker:
    """Executes runs of an application.

    database is a connection string of libpq; without it, PAWL_DATABASE_URL and libpq's own variables
    count. concurrency is how many runs are executed at the same time. Other settings are those of
    docs/config.md, such as ``lease="10s"``. If a handler is async, runs are executed in an event
    loop, and plain handlers in threads of the same process; otherwise all of them in threads.
    """

    def __init__(
        self,
        app: App,
        database: str | None = None,
        *,
        concurrency: int | None = None,
        log_to_run: bool = True,
        **settings: Any,
    ) -> None:
        """Makes a worker, which does nothing until it is started."""
        self.app = app
        self.is_async = any(h.is_async for h in (*app.workflows.values(), *app.undos.values()))
        self.concurrency = concurrency or (256 if self.is_async else 16)
        self._pid = os.getpid()
        self._log_to_run = log_to_run
        self._log_lock = threading.Lock()
        self._log_handler: RunLog | None = None
        self._line = ffi.new("const pawl_log_line **")
        self._started = False
        self._serving = False  # run() or serve() is using the handle
        self._executing: set[Any] = set()  # threads that execute a run, and at the end runs whose handlers go on
        self._failures: list[BaseException] = []  # of threads
        client = f"pawl-python/{version()} {sys.implementation.name}-{sys.version_info[0]}.{sys.version_info[1]}"
        defaults = {"runtimes": "python", "client": client, "code_version": app.version}
        config = make_config(database, {**defaults, "concurrency": self.concurrency, **settings})
        lib.pawl_config_keep_log(config, lib.PAWL_LOG_INFO)
        self.drain_timeout_ms = _duration_ms(text(lib.pawl_config_get(config, b"drain_timeout")))
        out, slot = ffi.new("pawl_worker **"), ffi.new("pawl_error **")
        check(lib.pawl_worker_new(config, out, slot), slot)
        # Freed by close() alone: at the exit of the interpreter a thread may still be inside the library.
        self.handle: Pointer = out[0]
        for name in app.workflows:
            check(lib.pawl_worker_handle(self.handle, c_text(name), NULL, NULL, slot), slot)

    def _here(self) -> None:
        if self._pid != os.getpid():
            raise UsageError("the worker belongs to the process before the fork", "Start a worker in the child process.")
        if self.handle is None:
            raise UsageError("the worker is closed", "Make another one.")

    # --- life

    def start(self) -> None:
        """Connects and registers the worker, and claims runs from now on. run() and serve() call it."""
        self._here()
        if self._started:
            return
        slot = ffi.new("pawl_error **")
        check(lib.pawl_worker_start(self.handle, slot), slot)
        self._started = True
        if self._log_to_run:
            self._log_handler = RunLog(logging.INFO)
            logging.getLogger().addHandler(self._log_handler)
        self.take_log()

    def drain(self) -> None:
        """Claims nothing more, lets executing runs continue for at most drain_timeout, and returns at once."""
        self._here()
        lib.pawl_worker_drain_within(self.handle, self.drain_timeout_ms)

    def stop(self, timeout: Seconds = 30.0) -> None:
        """Drains and blocks until all is recorded; after timeout seconds it releases what is left."""
        self._here()
        slot = ffi.new("pawl_error **")
        check(lib.pawl_worker_stop(self.handle, milliseconds(timeout), slot), slot)
        self._left(self.handle)

    def _left(self, handle: Pointer) -> None:
        if self._log_handler is not None:
            logging.getLogger().removeHandler(self._log_handler)
            self._log_handler = None
        self.take_log(handle)

    def __del__(self) -> None:
        """Ends a worker that was dropped without close(): it claims nothing more, and leaves the database."""
        handle = getattr(self, "handle", None)
        if handle is not None and self._started and self._pid == os.getpid() and not sys.is_finalizing():
            # A thread, because leaving takes a round trip; not threading.Thread, because the collector may be called while that has a lock.
            _thread.start_new_thread(_end_dropped, (handle, self._log_handler))
            warnings.warn("a pawl.Worker was dropped without close()", ResourceWarning, stacklevel=2)

    def close(self) -> None:
        """Frees the worker, after it has been stopped. Raises UsageError while run() or serve() executes runs, such as in a handler."""
        if self.handle is None:
            return
        here = self._pid == os.getpid()
        if here and self._serving:
            raise UsageError("the worker is executing runs", "Call drain(), and close it after run() or serve() has returned.")
        handle, self.handle = self.handle, None
        if here:
            self._left(handle)
        if here and self._executing:
            # Their threads still use the memory. The process ends soon, or keeps it.
            logger.warning("the worker is not freed: %d handlers have not ended", len(self._executing))
            return
        lib.pawl_worker_free(handle)

    def counter(self, name: str) -> int:
        """A counter since the start: claimed, finished, claims, committed, batches, busy, lease_lost, held …"""
        self._here()
        return int(lib.pawl_worker_counter(self.handle, c_text(name)))

    def take_log(self, handle: Pointer = None) -> None:
        """Passes log lines of the library to the logger "pawl"."""
        handle = self.handle if handle is None else handle
        if not self._log_lock.acquire(blocking=False):
            return
        try:
            while lib.pawl_worker_log_next(handle, self._line) == OK:
                line = self._line[0]
                level = _levels.get(line.level, logging.DEBUG)
                if logger.isEnabledFor(level):
                    facts = {text(line.names[i]): text(line.values[i]) for i in range(line.count)}
                    more = "".join(f" {name}={value}" for name, value in facts.items())
                    logger.log(level, "%s: %s%s", text(line.event), text(line.message), more, extra={"pawl": facts})
        finally:
            self._log_lock.release()

    def run(self, *, signals: bool = True) -> None:
        """Executes runs until SIGTERM, SIGINT or drain(), then stops and closes the worker.

        After a second signal the process ends, and the runs that are left are released. Raises what ended
        the worker otherwise; what a handler raises ends only its run.
        """
        if self.is_async:
            asyncio.run(self.serve(signals=signals))
            self.close()
            return
        self.start()
        self._serving = True
        threads = [threading.Thread(target=self._work, name=f"pawl-{i}", daemon=True) for i in range(self.concurrency)]
        try:
            with _on_signals(self.drain) if signals else contextlib.nullcontext():
                for thread in threads:
                    thread.start()
                for thread in threads:
                    while thread.is_alive():
                        thread.join(0.2)
                        self.take_log()
            self._stop_quietly()
        finally:
            self._serving = any(thread.is_alive() for thread in threads)  # after a KeyboardInterrupt they are
            if self._failures:
                failure = self._failures.pop(0)
                self.close()
                raise failure
        self.close()

    def _stop_quietly(self) -> None:
        """Stops; runs that were released because the time has passed are in the log, not an error."""
        try:
            self.stop(self.drain_timeout_ms / 1000)
        except PawlError as exc:
            if exc.code != "PAWL_ETIMEOUT":
                raise
            logger.warning("%s", exc)

    # --- plain functions

    def _work(self) -> None:
        """One thread. An error that no handler has raised ends the worker."""
        try:
            self._take_runs()
        except BaseException as exc:
            self._failures.append(exc)
            lib.pawl_worker_drain_within(self.handle, self.drain_timeout_ms)

    def _take_runs(self) -> None:
        """Takes runs and executes them until the worker is drained."""
        run, slot = ffi.new("pawl_run **"), ffi.new("pawl_error **")
        while True:
            status = lib.pawl_worker_next(self.handle, -1, run, slot)
            if status == OK:
                self.execute(run[0])
            elif status == DRAINED:
                return
            elif status != ETIMEOUT:
                raise_error(status, slot)

    def execute(self, run: Pointer) -> None:
        """Executes a claimed run with calls that block, on this thread, and finishes it whatever happens: else it stays held."""
        self._executing.add(threading.get_ident())
        status, output = ELEASE_LOST, None
        try:
            status, output = self._execute(run)
        except BaseException as exc:
            status = set_error(run, exc, self.app.payloads)
            raise
        finally:
            lib.pawl_run_finish(run, status, NONE if output is None else (ffi.from_buffer(output), len(output)))
            self._executing.discard(threading.get_ident())

    def _execute(self, run: Pointer) -> tuple[int, bytes | None]:
        """Executes the handler of a run. Returns how to finish the run, and its output."""
        if lib.pawl_run_rolling_back(run):
            return self._roll_back(run), None
        payloads = self.app.payloads
        found = self.app.find(text(lib.pawl_run_workflow(run)))
        if found is None:
            set_message(run, "no_handler", f"this worker has no handler for {text(lib.pawl_run_workflow(run))}")
            return int(lib.pawl_run_defer(run)), None
        context = Context(run, payloads)
        token = _handler.set(context)
        try:
            if found.kinds:
                value = found.function(context, payloads.load(data_of(lib.pawl_run_input(run)), found.kinds[0]))
            else:
                value = found.function(context)
            return OK, payloads.dump(value)
        except Suspended:
            return SUSPENDED, None
        except RunCancelled:
            return ECANCELLED, None
        except LeaseLost:
            return ELEASE_LOST, None
        except BaseException as exc:
            return set_error(run, exc, payloads), None
        finally:
            _handler.reset(token)
            context._close()

    def _roll_back(self, run: Pointer) -> int:
        """Executes the undos of a run, last step first."""
        name, argument, output = ffi.new("const char **"), ffi.new("pawl_bytes *"), ffi.new("pawl_bytes *")
        context = UndoContext(run, self.app.payloads)
        token = _handler.set(context)
        try:
            while True:
                status = int(lib.pawl_run_undo_next(run, name, argument, output))
                if status != EXECUTE:
                    return status
                undo = self.app.undos.get(text(name[0]))
                if undo is None:
                    set_message(run, "no_undo", f'this worker has no undo handler "{text(name[0])}"')
                    return int(lib.pawl_run_defer(run))
                status = self._undo(run, undo, context, data_of(argument[0]), data_of(output[0]))
                status = int(lib.pawl_step_finish(run, status, NONE, NULL))
                if status != OK:
                    return status
        finally:
            _handler.reset(token)
            context._run = None

    def _undo(self, run: Pointer, undo: Any, context: UndoContext, argument: bytes | None, output: bytes | None) -> int:
        """Executes one undo handler. Returns the status to finish it with."""
        payloads = self.app.payloads
        step = Step(run, undo.name, payloads)
        token = _current.set(step)
        try:
            undo.function(context, payloads.load(argument, undo.kinds[0]), payloads.load(output, undo.kinds[1]))
            return OK
        except RunCancelled:
            return ECANCELLED
        except LeaseLost:
            return ELEASE_LOST
        except BaseException as exc:
            return set_error(run, exc, payloads)
        finally:
            step.close()
            _current.reset(token)

    # --- the event loop

    async def serve(self, *, signals: bool = False) -> None:
        """Executes runs in this event loop until drain(); drains when it is cancelled. Then the worker is stopped."""
        self._here()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.start)
        self._serving = True
        try:
            await self._serve(loop, signals)
        finally:
            self._serving = False

    async def _serve(self, loop: asyncio.AbstractEventLoop, signals: bool) -> None:
        """Executes runs, and stops the worker."""
        side = Loop(self)
        self._loop = side
        lib.pawl_worker_notice(self.handle, side._slot, side._reason)
        descriptor = lib.pawl_worker_fd(self.handle)
        loop.add_reader(descriptor, side.readable)
        if signals:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._on_signal, loop, number)
        try:
            side.readable()
            try:
                await asyncio.shield(side.drained)
            except asyncio.CancelledError:
                self.drain()
                await asyncio.shield(side.drained)
                raise
        finally:
            await self._leave(side, descriptor)

    def _on_signal(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        """Drains. A second signal ends the process."""
        for one in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(one)
        self.drain()

    async def _leave(self, side: Loop, descriptor: int) -> None:
        """Ends handlers that are left after a drain whose time has passed, and stops the worker."""
        loop = asyncio.get_running_loop()
        for live in list(side.lives.values()):
            live.stop(ELEASE_LOST)
        for _ in range(200):
            if not side.lives and not side.blocking:
                break
            side.readable()
            await asyncio.sleep(0.01)
        loop.remove_reader(descriptor)
        if side.lives or side.blocking:
            logger.warning("%d handlers did not end in time", len(side.lives) + len(side.blocking))
        side.close()
        try:
            await loop.run_in_executor(None, self._stop_quietly)
        finally:
            for turn in range(100):
                side.readable()
                if not side.lives:
                    break
                if turn == 50:
                    side.leave()
                await asyncio.sleep(0.01)
            self._executing.update(side.lives)  # handlers that have swallowed the cancel


def _end_dropped(handle: Pointer, log_handler: RunLog | None) -> None:
    """Stops a worker that no object refers to. Frees it, unless a handler that was dropped with it has not finished its run."""
    if log_handler is not None:
        logging.getLogger().removeHandler(log_handler)
    slot = ffi.new("pawl_error **")
    if lib.pawl_worker_stop(handle, 0, slot) != OK:
        lib.pawl_error_free(slot[0])
    if lib.pawl_worker_counter(handle, b"held") == 0:
        lib.pawl_worker_free(handle)


@contextlib.contextmanager
def _on_signals(drain: Any) -> Any:
    """Drains on the first SIGTERM or SIGINT; a second one ends the process."""
    numbers = (signal.SIGTERM, signal.SIGINT)

    def handle(number: int, frame: Any) -> None:
        for one in numbers:
            signal.signal(one, signal.SIG_DFL)
        drain()

    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _duration_ms(value: str) -> int:
    """A duration of the settings in milliseconds."""
    for unit, factor in (("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)):
        if value.endswith(unit) and value[: -len(unit)].isdigit():
            return int(value[: -len(unit)]) * factor
    return int(value or "30000")
