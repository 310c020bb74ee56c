# SPDX-License-Identifier: Apache-2.0
"""What a handler is given: the facts of its run, and the calls that plain functions make. Those block."""

from __future__ import annotations

import contextvars
import json
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, cast, overload

from . import _trace, _tx
from ._app import Compensation, Retry, Workflow
from ._codec import Payloads, kind_of_result
from ._errors import LeaseLost, Rejected, RunCancelled, Suspended, UsageError
from ._lib import (
    ECANCELLED,
    ELEASE_LOST,
    EREFUSED,
    ETIMEOUT,
    EXECUTE,
    NONE,
    NULL,
    OK,
    Pointer,
    c_text,
    data_of,
    ffi,
    lib,
    run_error,
    set_error,
    text,
)
from ._seconds import Seconds, milliseconds

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741
Ts = TypeVarTuple("Ts")

THREADS_MAX = 64  # of one parallel(), as in C
ENCODED_PIECE = 1000  # characters of a piece of a stream that a codec encodes; encoded, they are below 16 kB


class _Infer:
    """The default of kind: what the function is annotated to return."""


INFER: Any = _Infer()


class Step:
    """The step, or the undo, that is being executed. pawl.current() returns it, from anywhere inside the step."""

    __slots__ = ("_entered", "_handle", "_key", "_payloads", "attempt", "name")

    def __init__(self, handle: Pointer, name: str, payloads: Payloads) -> None:
        """Made by the context."""
        self._handle = handle
        self._payloads = payloads
        self._key: str | None = None
        self.name = name
        self.attempt: int = lib.pawl_step_attempt(handle)
        self._entered = _trace.enter(handle)

    def _use(self) -> Pointer:
        if self._handle is None:
            raise UsageError(f'the step "{self.name}" has ended', "Use pawl.current() only inside the step.")
        return self._handle

    @property
    def key(self) -> str:
        """A text that is the same in each attempt of this step, such as for the idempotency key of a payment."""
        if self._key is None:
            self._key = text(lib.pawl_step_key(self._use()))
        return self._key

    def check(self) -> None:
        """Call it inside long loops of plain code. Raises if the run was cancelled or lost, or time has passed."""
        status = lib.pawl_run_check(self._use())
        if status == ETIMEOUT:
            raise TimeoutError("the step has exceeded its time limit")
        if status != OK:
            raise run_error(self._handle, status, self._payloads)

    def log(self, message: str, *args: object) -> None:
        """Stores a log line with the run."""
        store_log(self._use(), self._payloads, message, args)

    def stream(self, text: str) -> None:
        """Stores a piece of text now, while the step is executed, for those who follow the run (Client.follow).

        Each call stores one piece, such as one token of a language model. Never blocks. A claim
        streams at most 100,000 pieces and 16 MB, a run 1,000,000 pieces; more is dropped. It is no
        record: a step that is executed again streams again.
        """
        handle = self._use()
        text = str(text).replace("\0", "\ufffd")
        # The library cuts a long text. What a codec has made of it must stay whole.
        size = len(text) if self._payloads.codec is None else ENCODED_PIECE
        for at in range(0, len(text), max(size, 1)):
            data = self._payloads.dump_text(text[at : at + size])
            lib.pawl_step_stream(handle, (ffi.from_buffer(data), len(data)))

    def close(self) -> None:
        """Made by the context, when the step ends."""
        self._handle = None
        _trace.leave(self._entered)


_current: contextvars.ContextVar[Step | None] = contextvars.ContextVar("pawl_step", default=None)
_handler: contextvars.ContextVar[Facts | None] = contextvars.ContextVar("pawl_run", default=None)


def current() -> Step:
    """The step that is being executed: its key, its attempt, check(), log() and stream(). Works anywhere inside the step."""
    step = _current.get()
    if step is None:
        raise UsageError("no step is being executed here", "Call pawl.current() inside the function of a step.")
    return step


def store_log(handle: Pointer, payloads: Payloads, message: str, args: tuple[object, ...] = ()) -> None:
    """Stores a log line."""
    data = payloads.dump_text(str(message) % args if args else str(message))
    lib.pawl_run_log_text(handle, (ffi.from_buffer(data), len(data)))


def log_here(message: str) -> None:
    """Stores a log line with the run whose code is being executed, if any; for the handler of logging."""
    step, facts = _current.get(), _handler.get()
    if step is not None and step._handle is not None:
        store_log(step._handle, step._payloads, message)
    elif facts is not None and facts._run is not None:
        store_log(facts._run, facts._payloads, message)


class Options:
    """Options of the next call. All are encoded before the first is set: one that cannot be must not leave others to another call."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[tuple[bytes, bytes]] = []

    def add(self, name: str, value: Any) -> None:
        """Adds an option, unless the value is None."""
        if value is not None:
            self._found.append((name.encode(), c_text(str(value))))

    def add_duration(self, name: str, value: Seconds | None) -> None:
        """Adds a duration, unless it is None."""
        if value is not None:
            self.add(name, milliseconds(value))

    def set(self, handle: Pointer) -> None:
        """Sets them for the next call on a handle."""
        for name, value in self._found:
            lib.pawl_run_set_option(handle, name, value)


def step_options(
    handle: Pointer,
    payloads: Payloads,
    retry: Retry | None,
    timeout: Seconds | None,
    undo: Compensation | None,
) -> None:
    """Sets the options of the next step."""
    options = Options()
    if retry is not None:
        options.add("max_attempts", retry.max_attempts)
        options.add_duration("base_ms", retry.base)
        options.add("factor", retry.factor)
        options.add_duration("cap_ms", retry.cap)
        options.add("jitter", retry.jitter)
    options.add_duration("timeout_ms", timeout)
    if undo is not None:
        options.add("undo", undo.name)
        if undo.input is not None:
            options.add("undo_input", payloads.dump(undo.input).decode())
        if undo.retry is not None:
            options.add("undo_max_attempts", undo.retry.max_attempts)
            options.add_duration("undo_base_ms", undo.retry.base)
    options.set(handle)


def event_options(handle: Pointer, key: str | None, match: Mapping[str, Any] | None) -> None:
    """Sets the options of the next wait for an event."""
    options = Options()
    options.add("key", key)
    if match is not None:
        options.add("match", json.dumps(match))
    options.set(handle)


def child_options(
    handle: Pointer,
    priority: int | None,
    delay: Seconds | None,
    metadata: Mapping[str, Any] | None,
    limit_key: str | None,
) -> None:
    """Sets the options of the next child."""
    options = Options()
    options.add("priority", priority)
    options.add_duration("delay_ms", delay)
    metadata = _trace.for_child(handle, metadata)
    if metadata is not None:
        options.add("metadata", json.dumps(metadata))
    options.add("limit_key", limit_key)
    options.set(handle)


def limit(timeout: Seconds | None) -> int:
    """The time limit of a wait in milliseconds; -1 for none."""
    return -1 if timeout is None else milliseconds(timeout)


def name_of(workflow: str | Workflow[Any, Any]) -> bytes:
    """The name of a workflow for the library."""
    return c_text(workflow if isinstance(workflow, str) else workflow.name)


def kind_of(workflow: str | Workflow[Any, Any], kind: Any) -> Any:
    """The kind of a child's output: the one given, else what its handler is annotated to return."""
    if kind is INFER:
        return None if isinstance(workflow, str) else workflow.result
    return kind


class Facts:
    """What a handler can ask about its run."""

    def __init__(self, run: Pointer, payloads: Payloads) -> None:
        """Made by the worker."""
        self._run: Pointer = run
        self._payloads = payloads

    def _use(self) -> Pointer:
        """The handle. The library frees it when the run ends, and a task or thread may live longer."""
        if self._run is None:
            raise UsageError("the run has ended", "Do not use a context after its handler has returned.")
        return self._run

    @property
    def id(self) -> str:
        """The id of the run."""
        return text(lib.pawl_run_id(self._use()))

    @property
    def task(self) -> int:
        """The number of a flow's task; 0 for a coded run."""
        return int(lib.pawl_run_task(self._use()))

    @property
    def workflow(self) -> str:
        """The name of the workflow, or FLOW/STEP for a task of a flow."""
        return text(lib.pawl_run_workflow(self._use()))

    @property
    def tenant(self) -> str:
        """The tenant of the run, "" by default."""
        return text(lib.pawl_run_tenant(self._use()))

    @property
    def execution(self) -> int:
        """How often the handler was started, from 1, including after waits and lost leases."""
        return int(lib.pawl_run_execution(self._use()))

    @property
    def metadata(self) -> Any:
        """The metadata of the run, or None."""
        data = data_of(lib.pawl_run_metadata(self._use()))
        return None if data is None else json.loads(data)

    def log(self, message: str, *args: object) -> None:
        """Stores a log line with the run, formatted as logging does: ``ctx.log("sent %d", n)``."""
        store_log(self._use(), self._payloads, message, args)

    def progress(self, name: str, message: str) -> None:
        """Stores a sign of progress with the run: a name and a text such as "40 %"."""
        encoded, data = c_text(name), self._payloads.dump_text(str(message))
        lib.pawl_run_progress_text(self._use(), encoded, (ffi.from_buffer(data), len(data)))


class UndoContext(Facts):
    """What an undo handler is given. ``pawl.current()`` has the key and the attempt of the undo."""

    @property
    def uncertain(self) -> bool:
        """Whether the step was begun and never recorded, or failed: its effect may or may not exist."""
        return bool(lib.pawl_run_undo_uncertain(self._use()))


class Context(Facts):
    """For handlers that are plain functions, each executed by a thread. Calls block until they are durable.

    A call that has to wait raises Suspended, a BaseException: the handler ends and is executed again
    later, when recorded calls return at once what they returned before. ``finally`` and ``with`` are
    therefore executed each time the run is released.
    """

    def __init__(self, run: Pointer, payloads: Payloads) -> None:
        """Made by the worker."""
        super().__init__(run, payloads)
        self._out = ffi.new("pawl_bytes *")
        self._parts: list[Context] = []

    def _result(self, status: int, kind: Any = None) -> Any:
        if status == OK:
            return self._payloads.load(data_of(self._out[0]), kind)
        raise run_error(self._run, status, self._payloads)

    def _close(self) -> None:
        for part in self._parts:
            part._close()
        self._run = None

    # --- steps

    def step(
        self,
        name: str,
        function: Callable[[*Ts], T],
        *args: *Ts,
        retry: Retry | None = None,
        timeout: Seconds | None = None,
        undo: Compensation | None = None,
        kind: Any = INFER,
    ) -> T:
        """Executes function(*args) unless the step is recorded, records its result, and returns that.

        The result passes through JSON, also the first time; kind, or the function's annotation, says
        what it becomes. timeout is the time limit of one attempt. undo compensates the step if the
        run fails. Raises StepFailed after the last attempt.
        """
        run, out, encoded = self._use(), self._out, c_text(name)
        kind = kind_of_result(function) if kind is INFER else kind
        step_options(run, self._payloads, retry, timeout, undo)
        status = lib.pawl_step_begin(run, encoded, out)
        if status != EXECUTE:
            return cast(T, self._result(status, kind))
        step = Step(run, name, self._payloads)
        token = _current.set(step)
        try:
            value = function(*args)
            if hasattr(type(value), "__await__"):
                getattr(value, "close", lambda: None)()
                raise UsageError(f'step "{name}" is an async function', "Make the handler an async function, too.")
            data = self._payloads.dump(value)
        except RunCancelled:
            lib.pawl_step_finish(run, ECANCELLED, NONE, NULL)
            raise
        except LeaseLost:
            lib.pawl_step_finish(run, ELEASE_LOST, NONE, NULL)
            raise
        except BaseException as exc:
            return cast(T, self._result(lib.pawl_step_finish(run, set_error(run, exc, self._payloads), NONE, out), kind))
        finally:
            step.close()
            _current.reset(token)
        return cast(T, self._result(lib.pawl_step_finish(run, OK, (ffi.from_buffer(data), len(data)), out), kind))

    def transaction(
        self,
        name: str,
        connection: Any,
        function: Callable[[Any, *Ts], T],
        *args: *Ts,
        retry: Retry | None = None,
        timeout: Seconds | None = None,
        kind: Any = INFER,
    ) -> T:
        """A step in your own transaction: function(connection, *args) and the step's record commit together.

        connection is a connection or pool of psycopg, an Engine, sessionmaker or Session of
        SQLAlchemy, or a connection of Django, to the database of pawl. It must not be in a
        transaction: this call begins and commits one. function is given the connection.
        """
        run, out, encoded, token = self._use(), self._out, c_text(name), ffi.new("const char **")
        kind = kind_of_result(function) if kind is INFER else kind
        step_options(run, self._payloads, retry, timeout, None)
        status = lib.pawl_step_begin_transaction(run, encoded, out, token)
        if status != EXECUTE:
            return cast(T, self._result(status, kind))
        step = Step(run, name, self._payloads)
        mark = _current.set(step)
        try:
            failure = _tx.execute(connection, text(token[0]), lambda found: function(found, *args), self._payloads)
        finally:
            step.close()
            _current.reset(mark)
        if failure is None:
            return cast(T, self._result(lib.pawl_step_confirm(run, out), kind))
        status = lib.pawl_step_finish(run, set_error(run, failure, self._payloads), NONE, out)
        return cast(T, self._result(status, kind))

    def changed(self, name: str) -> bool:
        """A change point: True if this run should execute new code, False for a run that was beyond it before.

        The answer is recorded under the name, so every replay gets the same.
        """
        found = ffi.new("int *")
        status = lib.pawl_run_changed(self._use(), c_text(name), found)
        if status != OK:
            raise run_error(self._run, status, self._payloads)
        return bool(found[0])

    # --- waiting

    def sleep(self, name: str, duration: Seconds) -> None:
        """Sleeps for so many seconds, or a timedelta, without holding the worker."""
        status = lib.pawl_sleep(self._use(), c_text(name), milliseconds(duration))
        if status != OK:
            raise run_error(self._run, status, self._payloads)

    def wait_event(
        self,
        name: str,
        topic: str,
        *,
        key: str | None = None,
        match: Mapping[str, Any] | None = None,
        timeout: Seconds | None = None,
        kind: Any = None,
    ) -> Any:
        """Waits for an event on a topic and returns its payload. Raises WaitTimeout after timeout seconds.

        key is the key of the event; match has JSON pointers and values that its payload must have,
        such as ``{"/id": 7}``.
        """
        run, encoded, where, ms = self._use(), c_text(name), c_text(topic), limit(timeout)
        event_options(run, key, match)
        status = lib.pawl_wait_event(run, encoded, where, ms, self._out)
        return self._result(status, kind)

    def wait_signal(self, name: str, *, timeout: Seconds | None = None, kind: Any = None) -> Any:
        """Waits for a signal of this name to this run and returns its payload."""
        return self._result(lib.pawl_wait_signal(self._use(), c_text(name), limit(timeout), self._out), kind)

    def wait_approval(self, name: str, form: Any = None, *, timeout: Seconds | None = None) -> dict[str, Any]:
        """Waits for the decision of a person. Returns it: approved, by, why, payload. Raises Rejected if rejected.

        form describes the question, for the program that shows it; ``list_waits`` has it.
        """
        data = b"" if form is None else self._payloads.dump(form)
        given = NONE if form is None else (ffi.from_buffer(data), len(data))
        status = lib.pawl_wait_approval(self._use(), c_text(name), given, limit(timeout), self._out)
        return cast("dict[str, Any]", decided(self, status, self._run))

    @overload
    def child(
        self,
        name: str,
        workflow: Workflow[I, O],
        input: I | None = ...,
        *,
        priority: int | None = ...,
        delay: Seconds | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        limit_key: str | None = ...,
    ) -> O: ...
    @overload
    def child(
        self,
        name: str,
        workflow: str,
        input: Any = ...,
        *,
        priority: int | None = ...,
        delay: Seconds | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        limit_key: str | None = ...,
        kind: Any = ...,
    ) -> Any: ...
    def child(
        self,
        name: str,
        workflow: str | Workflow[Any, Any],
        input: Any = None,
        *,
        priority: int | None = None,
        delay: Seconds | None = None,
        metadata: Mapping[str, Any] | None = None,
        limit_key: str | None = None,
        kind: Any = INFER,
    ) -> Any:
        """Triggers a run, waits for it and returns its output. Raises ChildFailed if it failed or was cancelled."""
        run, encoded, target = self._use(), c_text(name), name_of(workflow)
        data = self._payloads.dump({} if input is None else input)
        given = (ffi.from_buffer(data), len(data))
        child_options(run, priority, delay, metadata, limit_key)
        status = lib.pawl_child(run, encoded, target, given, self._out)
        return self._result(status, kind_of(workflow, kind))

    def start_child(
        self,
        name: str,
        workflow: str | Workflow[Any, Any],
        input: Any = None,
        *,
        priority: int | None = None,
        delay: Seconds | None = None,
        metadata: Mapping[str, Any] | None = None,
        limit_key: str | None = None,
    ) -> str:
        """Triggers a detached run and returns its id without waiting for it."""
        run, encoded, target = self._use(), c_text(name), name_of(workflow)
        data = self._payloads.dump({} if input is None else input)
        given = (ffi.from_buffer(data), len(data))
        child_options(run, priority, delay, metadata, limit_key)
        status = lib.pawl_child_detached(run, encoded, target, given, self._out)
        if status != OK:
            raise run_error(self._run, status, self._payloads)
        return str(json.loads(data_of(self._out[0]) or b"{}").get("run_id"))

    # --- branches

    def _part(self, handle: Pointer) -> Self:
        part = type(self)(handle, self._payloads)
        self._parts.append(part)
        return part

    def branch(self, name: str) -> Self:
        """Makes a branch: its calls are recorded as NAME/…, and are counted apart from those of other branches."""
        made = ffi.new("pawl_run **")
        status = lib.pawl_run_branch(self._use(), c_text(name), made)
        if status != OK:
            raise run_error(self._run, status, self._payloads)
        return self._part(made[0])

    def parallel(self, branches: Mapping[str, Callable[[Context], Any]] | None = None, /, **named: Callable[[Context], Any]) -> list[Any]:
        """Executes branches at the same time, each function in a thread with the context of its branch.

        Returns their results in order. If a branch waits, so does the run; otherwise the first
        failure in order is raised, after all branches have ended.
        """
        functions = {**(branches or {}), **named}
        parts = {name: self.branch(name) for name in functions}
        return join(self._execute_parts(functions, parts))

    def _execute_parts(self, functions: Mapping[str, Callable[[Context], Any]], parts: Mapping[str, Context]) -> list[Any]:
        results: dict[str, Any] = {}
        waiting = list(functions)
        lock = threading.Lock()

        def work(context: contextvars.Context) -> None:
            while True:
                with lock:
                    if not waiting:
                        return
                    name = waiting.pop(0)
                try:
                    results[name] = context.copy().run(functions[name], parts[name])
                except BaseException as exc:
                    results[name] = _Raised(exc)

        here = contextvars.copy_context()
        threads = [
            threading.Thread(target=work, args=(here.copy(),), name="pawl-branch", daemon=True)
            for _ in range(min(len(waiting), THREADS_MAX))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [results[name] for name in functions]

    def gather(self, *calls: Callable[[Context], Any]) -> list[Any]:
        """Makes single calls of this branch so that one that waits does not keep the others from starting.

        Each function is given a context and makes one call on it: ``ctx.gather(lambda c: c.step("a",
        f), lambda c: c.sleep("nap", 60))``. They are called one after the other; names have no prefix.
        Returns their results in order; failures as in parallel().
        """
        results: list[Any] = []
        for call in calls:
            made = ffi.new("pawl_run **")
            status = lib.pawl_run_dup(self._use(), made)
            if status != OK:
                raise run_error(self._run, status, self._payloads)
            try:
                results.append(call(self._part(made[0])))
            except BaseException as exc:
                results.append(_Raised(exc))
        return join(results)

    def first(
        self,
        name: str,
        branches: Mapping[str, Callable[[Context], Any]] | None = None,
        /,
        **named: Callable[[Context], Any],
    ) -> tuple[str, Any]:
        """The first of several waits: executes branches and does not wait for those that are suspended.

        As soon as one has ended, a step called name records which, so every replay gets the same.
        Returns the name of that branch and its result, or raises what it raised.
        """
        functions = {**(branches or {}), **named}
        parts = {branch: self.branch(branch) for branch in functions}
        results = dict(zip(functions, self._execute_parts(functions, parts), strict=True))
        chosen = choose(results)
        if chosen is None:
            raise Suspended("the run waits")
        recorded = str(self.step(name, lambda: chosen))
        return recorded, join([results[recorded]])[0]


class _Raised:
    """What a branch raised."""

    __slots__ = ("exc",)

    def __init__(self, exc: BaseException) -> None:
        self.exc = exc


def join(results: list[Any]) -> list[Any]:
    """Combines branches as pawl_branches_join() does: cancelled and lost, then suspended, then the first failure."""
    raised = [result.exc for result in results if isinstance(result, _Raised)]
    for kind in ((RunCancelled, LeaseLost), Suspended, BaseException):
        for exc in raised:
            if isinstance(exc, kind):
                raise exc
    return results


def choose(results: Mapping[str, Any]) -> str | None:
    """The first branch that has ended; raises if the run must stop."""
    for result in results.values():
        if isinstance(result, _Raised) and isinstance(result.exc, (RunCancelled, LeaseLost)):
            raise result.exc
    ended = [name for name, result in results.items() if not isinstance(result, _Raised) or not isinstance(result.exc, Suspended)]
    return ended[0] if ended else None


def decided(context: Any, status: int, handle: Pointer) -> Any:
    """The decision of an approval; raises if it was rejected."""
    found = None
    if status in (OK, EREFUSED):
        data = data_of(context._out[0])
        found = json.loads(data) if data else {}
        if found.get("payload") is not None and context._payloads.codec is not None:
            found["payload"] = context._payloads.load(json.dumps(found["payload"]).encode())
    if status == OK:
        return found
    exc = run_error(handle, status, context._payloads)
    if isinstance(exc, Rejected):
        exc.decision = found
    raise exc
