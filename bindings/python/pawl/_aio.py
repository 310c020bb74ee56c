# SPDX-License-Identifier: Apache-2.0
"""Handlers in an event loop: the calls of ``async def`` handlers, and the loop's side of a worker.

One thread, the loop's, makes all calls. A call that is not durable yet returns PAWL_PENDING; the
worker's descriptor becomes readable when its answer is there, and the same call is repeated. Any
number of calls of a run can be in flight: each is made on the run's own handle or on a duplicate.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, cast, overload

from . import _tx
from ._app import Blocking, Compensation, Retry, Workflow
from ._codec import Payloads, kind_of_result
from ._context import (
    INFER,
    Facts,
    Step,
    UndoContext,
    _current,
    _handler,
    _Raised,
    child_options,
    choose,
    decided,
    event_options,
    join,
    kind_of,
    limit,
    name_of,
    step_options,
)
from ._errors import Failure, LeaseLost, RunCancelled, Suspended, UsageError
from ._lib import (
    DRAINED,
    ECANCELLED,
    EFAILED,
    ELEASE_LOST,
    EXECUTE,
    NONE,
    NULL,
    OK,
    PENDING,
    SUSPENDED,
    Pointer,
    c_text,
    data_of,
    ffi,
    lib,
    raise_error,
    run_error,
    set_error,
    set_message,
    text,
)
from ._seconds import Seconds, milliseconds

if TYPE_CHECKING:
    from typing import Self

    from ._worker import Worker

T = TypeVar("T")
I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741
Ts = TypeVarTuple("Ts")

TURNS = 16  # of the loop, in which a run that waits may still begin another call
TAKEN_AT_ONCE = 64  # answers, before other callbacks of the loop get their turn
SLOW_S = 0.1  # a step that blocks the loop for longer is logged

logger = logging.getLogger("pawl")


class Abandoned:
    """A call whose caller was cancelled. Its answer is taken all the same, before the run is finished."""

    __slots__ = ("again", "live")

    def __init__(self, live: Live, again: Callable[[], int]) -> None:
        self.live = live
        self.again = again


class Live:
    """A run that the loop executes: which of its calls are in flight, and whether it has to stop."""

    __slots__ = (
        "begun",
        "calls",
        "closed",
        "contexts",
        "firsts",
        "inflight",
        "loop",
        "out",
        "parked",
        "payloads",
        "pending",
        "releasing",
        "resting",
        "run",
        "settled",
        "started",
        "status",
        "task",
        "turn",
    )

    def __init__(self, loop: Loop, run: Pointer, payloads: Payloads) -> None:
        self.loop = loop
        self.pending = loop.pending
        self.run = run
        self.payloads = payloads
        self.task: asyncio.Task[None] | None = None
        self.out = ffi.new("pawl_bytes *")
        self.calls: dict[Any, asyncio.Task[Any] | None] = {}  # by handle, the task that makes the call
        self.inflight = 0
        self.begun = 0  # calls, since the start of the handler
        self.started = False  # the task is being executed: a cancel before that would never reach it
        self.parked: set[asyncio.Task[Any] | None] = set()  # tasks whose call is suspended
        self.turn = 0  # grows with each answer that came through the loop
        self.status = OK  # the reason to stop, ECANCELLED or ELEASE_LOST
        self.releasing = False  # the run waits, and its handler is being ended
        self.resting = False  # the count of turns before that has begun
        self.closed = False  # the handler has returned
        self.settled: asyncio.Future[None] | None = None  # for the end of the run: no call in flight
        self.firsts: list[asyncio.Future[None]] = []  # calls of first() that wait until nothing moves
        self.contexts: list[AsyncContext] = []

    def begin(self, handle: Pointer, task: asyncio.Task[Any] | None) -> None:
        """A task makes a call on a handle. end() must follow, whatever happens: the run ends only when no call is in flight."""
        self.inflight += 1
        self.begun += 1
        self.calls[handle] = task

    def end(self, handle: Pointer) -> None:
        """The call on a handle has its result."""
        self.inflight -= 1
        self.calls.pop(handle, None)
        if self.inflight == 0:
            if self.settled is not None and not self.settled.done():
                self.settled.set_result(None)
            self.rest()

    async def answer(self, handle: Pointer, again: Callable[[], int], gave_up: Callable[[], None] | None = None) -> int:
        """Repeats a call that returned PAWL_PENDING when its answer is there. Returns its status."""
        status = PENDING
        while status == PENDING:
            future = self.loop.loop.create_future()
            self.pending[handle] = future
            try:
                await future
            except BaseException:
                if gave_up is not None:
                    gave_up()
                self.abandon(handle, again, future)
                raise
            self.turn += 1
            try:
                status = again()
            except BaseException:
                if gave_up is not None:
                    gave_up()
                self.end(handle)
                raise
        return status

    def abandon(self, handle: Pointer, again: Callable[[], int], future: Any = None) -> None:
        """Lets the loop take the answer of a call whose caller was cancelled."""
        # If the answer is there already, the call can be repeated now.
        if (future is None or self.pending.get(handle) is not future) and again() != PENDING:
            self.end(handle)
            return
        self.pending[handle] = Abandoned(self, again)

    def taken(self, handle: Pointer, call: Abandoned) -> None:
        """The answer of an abandoned call has arrived."""
        if call.again() == PENDING:
            self.pending[handle] = call
        else:
            self.end(handle)

    def rest(self) -> None:
        """Begins to count turns if something waits and nothing is in flight."""
        if (self.parked or self.firsts) and self.inflight == 0 and not self.resting and not self.closed:
            self.resting = True
            self.loop.loop.call_soon(self._count, TURNS, self.begun)

    def _count(self, turns: int, begun: int) -> None:
        """Releases the run after some turns in which no call began; the handler is executed again later."""
        if self.inflight or self.closed or not (self.parked or self.firsts):
            self.resting = False
        elif begun != self.begun:
            self.loop.loop.call_soon(self._count, TURNS, self.begun)
        elif turns > 0:
            self.loop.loop.call_soon(self._count, turns - 1, begun)
        elif self.firsts:
            self.resting = False
            firsts, self.firsts = self.firsts, []
            for future in firsts:
                if not future.done():
                    future.set_result(None)
        else:
            self.releasing = True
            self._cancel()

    def _cancel(self) -> None:
        """Cancels the handler, and again each second if it goes on with something else."""
        if self.task is not None and not self.task.done() and not self.closed:
            self.task.cancel()
            self.loop.loop.call_later(1.0, self._cancel)

    def waits(self) -> bool:
        """Whether a call is suspended that no code has given up."""
        return any(task is None or not task.cancelling() for task in self.parked)

    def stop(self, status: int) -> None:
        """The run was cancelled or lost: interrupts its handler, once. Tasks that it awaits are cancelled with it."""
        if self.status == OK:
            self.status = status
            if self.closed:
                self.cancel_calls()
            elif self.task is not None and self.started:
                self.task.cancel()

    def cancel_calls(self) -> None:
        """Interrupts the steps of tasks that the handler did not await."""
        for task in set(self.calls.values()):
            if task is not None and task is not self.task:
                task.cancel()

    async def all_settled(self) -> None:
        """Waits until no call is in flight, whoever cancels this task. Ends with the worker at the latest."""
        while self.inflight and not self.loop.left:
            self.settled = self.loop.loop.create_future()
            try:
                await self.settled
            except asyncio.CancelledError:
                continue

    def close(self) -> None:
        """The run is finished: its handles are freed."""
        for context in self.contexts:
            context._run = None
        self.run = None


class AsyncContext(Facts):
    """For ``async def`` handlers. Calls never block the loop; any number may be in flight (asyncio.gather).

    A call that has to wait never returns: when nothing else of the run is in flight, the run is
    released and the handler's task is cancelled. It is executed again later, when recorded calls
    return at once what they returned before. ``finally`` and ``async with`` are therefore executed
    each time the run is released.
    """

    def __init__(self, live: Live, run: Pointer) -> None:
        """Made by the worker."""
        super().__init__(run, live.payloads)
        self._live = live
        self._free: list[Any] = [run]
        self._busy: dict[str, list[int]] = {}
        live.contexts.append(self)

    # --- how a call begins and ends

    def _take(self, name: str) -> Pointer:
        """Returns a handle for a call. Two calls of one name may overlap if their order is that of the code."""
        live = self._live
        if live.closed or self._run is None:
            raise UsageError("the run has ended", "Await every call before the handler returns.")
        if live.releasing or live.status != OK:
            raise asyncio.CancelledError
        task = asyncio.current_task()
        busy = self._busy.get(name)
        if busy is None:
            self._busy[name] = [1, live.turn]
        elif busy[1] == live.turn:
            busy[0] += 1
        else:
            raise UsageError(
                f'two calls named "{name}" overlap, and their order is not that of the code',
                "Give them different names, or make each in its own branch: ctx.branch(name).",
            )
        if self._free:
            handle = self._free.pop()
        else:
            made = ffi.new("pawl_run **")
            status = lib.pawl_run_dup(self._run, made)
            if status != OK:
                self._forget(name)
                raise run_error(self._run, status, self._payloads)
            handle = made[0]
        live.begin(handle, task)
        return handle

    def _give_back(self, handle: Pointer, name: str) -> None:
        """A call was not made after all, because its arguments cannot be sent."""
        self._forget(name)
        self._live.end(handle)
        self._free.append(handle)

    def _make(self, name: str, prepare: Callable[[Any], None] | None, call: Callable[[Any, Any], int]) -> tuple[Pointer, int]:
        """Begins a call: sets its options, and makes it for the first time."""
        handle = self._take(name)
        try:
            if prepare is not None:
                prepare(handle)
            return handle, call(handle, self._live.out)
        except BaseException:
            self._give_back(handle, name)
            raise

    def _forget(self, name: str) -> None:
        """A call of this name has ended."""
        busy = self._busy.get(name)
        if busy is not None:
            busy[0] -= 1
            if busy[0] == 0:
                del self._busy[name]

    def _answer(self, handle: Pointer, name: str, again: Callable[[], int]) -> Coroutine[Any, Any, int]:
        """Waits for the answer to a call; a caller that is cancelled gives the name free."""
        return self._live.answer(handle, again, lambda: self._forget(name))

    async def _settle(self, handle: Pointer, name: str, status: int, kind: Any) -> Any:
        """Returns the result of a call, raises its failure, or never returns if the run waits for it."""
        live = self._live
        value = data_of(live.out[0]) if status == OK else None
        if status == SUSPENDED:
            await self._park(handle, name)
        self._forget(name)
        live.end(handle)
        if status == OK:
            self._free.append(handle)
            return self._payloads.load(value, kind)
        raise self._failed(handle, status)

    def _failed(self, handle: Pointer, status: int) -> BaseException:
        """The exception for a failed call. The loop cancels a handler whose run has to stop."""
        if status in (ECANCELLED, ELEASE_LOST):
            self._live.stop(status)
            return asyncio.CancelledError()
        try:
            return run_error(handle, status, self._payloads)
        finally:
            self._free.append(handle)

    async def _park(self, handle: Pointer, name: str) -> None:
        """Waits for ever: the call is suspended. Its task is cancelled when the run is released."""
        live, task = self._live, asyncio.current_task()
        live.parked.add(task)
        live.end(handle)
        try:
            await live.loop.loop.create_future()
        finally:
            self._forget(name)
            # A cancel by other code, such as a task group, gives the wait up; the release of the run does not.
            if not live.releasing:
                live.parked.discard(task)

    async def _call(self, name: str, prepare: Callable[[Any], None] | None, call: Callable[[Any, Any], int], kind: Any) -> Any:
        """Makes a wait, a child or the like."""
        handle, status = self._make(name, prepare, call)
        if status == PENDING:
            status = await self._answer(handle, name, lambda: call(handle, self._live.out))
        return await self._settle(handle, name, status, kind)

    # --- steps

    @overload
    async def step(
        self,
        name: str,
        function: Callable[[*Ts], Awaitable[T]],
        *args: *Ts,
        retry: Retry | None = None,
        timeout: Seconds | None = None,
        undo: Compensation | None = None,
        kind: Any = ...,
    ) -> T: ...
    @overload
    async def step(
        self,
        name: str,
        function: Callable[[*Ts], T],
        *args: *Ts,
        retry: Retry | None = None,
        timeout: Seconds | None = None,
        undo: Compensation | None = None,
        kind: Any = ...,
    ) -> T: ...
    async def step(  # type: ignore[misc]
        self,
        name: str,
        function: Callable[..., Any],
        *args: Any,
        retry: Retry | None = None,
        timeout: Seconds | None = None,
        undo: Compensation | None = None,
        kind: Any = INFER,
    ) -> Any:
        """Executes function(*args) unless the step is recorded, records its result, and returns that.

        function may be async or plain; a plain one is executed in the loop unless it is declared with
        pawl.blocking(). The result passes through JSON, also the first time; kind, or the function's
        annotation, says what it becomes. timeout is the time limit of one attempt, which is
        interrupted. undo compensates the step if the run fails. Raises StepFailed after the last
        attempt.
        """
        live, out, encoded = self._live, self._live.out, c_text(name)
        if kind is INFER:
            kind = kind_of_result(function)
        handle = self._take(name)
        try:
            if retry is not None or timeout is not None or undo is not None:
                step_options(handle, self._payloads, retry, timeout, undo)
            status = lib.pawl_step_begin(handle, encoded, out)
        except BaseException:
            self._give_back(handle, name)
            raise
        if status == PENDING:
            status = await self._answer(handle, name, lambda: lib.pawl_step_begin(handle, encoded, out))
        if status != EXECUTE:
            return await self._settle(handle, name, status, kind)
        step = Step(handle, name, self._payloads)
        token = _current.set(step)
        data = NONE
        try:
            if timeout is None and type(function) is not Blocking:
                value = _call_here(name, function, args)
                if hasattr(type(value), "__await__"):
                    value = await value
            else:
                value = await self._execute(name, function, args, timeout)
            raw = self._payloads.dump(value)
            data, status = (ffi.from_buffer(raw), len(raw)), OK
        except GeneratorExit:  # the loop is gone
            raise
        except BaseException as exc:
            status = self._end_failed(handle, name, exc)
        finally:
            step.close()
            _current.reset(token)
        result = lib.pawl_step_finish(handle, status, data, out)
        if result == PENDING:
            result = await self._answer(handle, name, lambda: lib.pawl_step_finish(handle, status, data, out))
        if result != OK:
            return await self._settle(handle, name, result, kind)
        recorded = data_of(out[0])
        self._forget(name)
        live.end(handle)
        self._free.append(handle)
        return self._payloads.load(recorded, kind)

    def _end_failed(self, handle: Pointer, name: str, exc: BaseException) -> int:
        """Sets the error of a failed attempt. Raises if the run, or the caller, has given the step up."""
        if isinstance(exc, (RunCancelled, LeaseLost)):
            exc = asyncio.CancelledError()  # check() raised it: the loop learns of it at the same time
        if not isinstance(exc, asyncio.CancelledError):
            return set_error(handle, exc, self._payloads)
        live = self._live
        # If the run was cancelled or lost, nothing is recorded. Otherwise code around the step gave it up: it has failed.
        status = live.status or lib.pawl_run_check(handle)
        if status not in (ECANCELLED, ELEASE_LOST):
            status = set_error(handle, Failure("the step was cancelled by the code around it", code="cancelled"), self._payloads)
        final = status
        self._forget(name)
        if lib.pawl_step_finish(handle, final, NONE, NULL) == PENDING:
            live.pending[handle] = Abandoned(live, lambda: lib.pawl_step_finish(handle, final, NONE, NULL))
        else:
            live.end(handle)
        raise exc

    async def _execute(self, name: str, function: Callable[..., Any], args: tuple[Any, ...], timeout: Seconds | None) -> Any:
        """Calls the function of a step, in the loop or in a thread, within its time limit."""
        if isinstance(function, Blocking):
            return await self._live.loop.in_thread(lambda: function(*args))
        began = time.perf_counter()
        value = _call_here(name, function, args)
        if timeout is None or not hasattr(type(value), "__await__"):
            return value
        return await _within(value, milliseconds(timeout), began)

    async def transaction(
        self,
        name: str,
        connection: Any,
        function: Callable[[Any, *Ts], Awaitable[T]],
        *args: *Ts,
        retry: Retry | None = None,
        timeout: Seconds | None = None,
        kind: Any = INFER,
    ) -> T:
        """A step in your own transaction: function(connection, *args) and the step's record commit together.

        connection is an async connection or pool of psycopg or asyncpg, or an AsyncEngine,
        async_sessionmaker or AsyncSession of SQLAlchemy, to the database of pawl. It must not be in a
        transaction: this call begins and commits one. function is given the connection.
        """
        live, out, encoded, slot = self._live, self._live.out, c_text(name), ffi.new("const char **")
        kind = kind_of_result(function) if kind is INFER else kind

        def begin(handle: Pointer, out: Pointer) -> int:
            return int(lib.pawl_step_begin_transaction(handle, encoded, out, slot))

        handle, status = self._make(name, lambda handle: step_options(handle, self._payloads, retry, timeout, None), begin)
        if status == PENDING:
            status = await self._answer(handle, name, lambda: begin(handle, out))
        if status != EXECUTE:
            return cast(T, await self._settle(handle, name, status, kind))
        step = Step(handle, name, self._payloads)
        token = _current.set(step)
        end: Callable[[], int] = lambda: int(lib.pawl_step_confirm(handle, out))  # noqa: E731
        try:
            failure = await _tx.execute_async(connection, text(slot[0]), lambda found: function(found, *args), self._payloads)
        except asyncio.CancelledError:
            self._forget(name)
            live.abandon(handle, end)
            raise
        finally:
            step.close()
            _current.reset(token)
        if failure is not None:
            status = self._end_failed(handle, name, failure)
            end = lambda: int(lib.pawl_step_finish(handle, status, NONE, out))  # noqa: E731
        result = end()
        if result == PENDING:
            result = await self._answer(handle, name, end)
        return cast(T, await self._settle(handle, name, result, kind))

    async def changed(self, name: str) -> bool:
        """A change point: True if this run should execute new code, False for a run that was beyond it before.

        The answer is recorded under the name, so every replay gets the same.
        """
        found, encoded = ffi.new("int *"), c_text(name)
        self._live.out[0] = NONE

        def call(handle: Pointer, out: Pointer) -> int:
            status = int(lib.pawl_run_changed(handle, encoded, found))
            out[0] = NONE
            return status

        await self._call(name, None, call, None)
        return bool(found[0])

    # --- waiting

    async def sleep(self, name: str, duration: Seconds) -> None:
        """Sleeps for so many seconds, or a timedelta, without holding the worker."""
        encoded, ms = c_text(name), milliseconds(duration)

        def call(handle: Pointer, out: Pointer) -> int:
            status = int(lib.pawl_sleep(handle, encoded, ms))
            out[0] = NONE
            return status

        await self._call(name, None, call, None)

    async def wait_event(
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
        encoded, where, ms = c_text(name), c_text(topic), limit(timeout)
        return await self._call(
            name,
            lambda handle: event_options(handle, key, match),
            lambda handle, out: int(lib.pawl_wait_event(handle, encoded, where, ms, out)),
            kind,
        )

    async def wait_signal(self, name: str, *, timeout: Seconds | None = None, kind: Any = None) -> Any:
        """Waits for a signal of this name to this run and returns its payload."""
        encoded, ms = c_text(name), limit(timeout)
        return await self._call(name, None, lambda handle, out: int(lib.pawl_wait_signal(handle, encoded, ms, out)), kind)

    async def wait_approval(self, name: str, form: Any = None, *, timeout: Seconds | None = None) -> dict[str, Any]:
        """Waits for the decision of a person. Returns it: approved, by, why, payload. Raises Rejected if rejected.

        form describes the question, for the program that shows it; ``list_waits`` has it.
        """
        encoded, ms = c_text(name), limit(timeout)
        data = b"" if form is None else self._payloads.dump(form)
        given = NONE if form is None else (ffi.from_buffer(data), len(data))
        decision: list[dict[str, Any]] = []

        def call(handle: Pointer, out: Pointer) -> int:
            out[0] = NONE
            status = int(lib.pawl_wait_approval(handle, encoded, given, ms, out))
            if status not in (PENDING, SUSPENDED, ECANCELLED, ELEASE_LOST):
                try:
                    decision.append(decided(self, status, handle))
                except BaseException as exc:
                    decision.append(cast("dict[str, Any]", _Raised(exc)))
                out[0] = NONE
            return status

        try:
            await self._call(name, None, call, None)
        except Exception:
            if not decision:
                raise
        return cast("dict[str, Any]", join(cast("list[Any]", decision))[-1])

    @property
    def _out(self) -> Pointer:
        return self._live.out

    @overload
    async def child(
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
    async def child(
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
    async def child(
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
        encoded, target = c_text(name), name_of(workflow)
        data = self._payloads.dump({} if input is None else input)
        given = (ffi.from_buffer(data), len(data))
        return await self._call(
            name,
            lambda handle: child_options(handle, priority, delay, metadata, limit_key),
            lambda handle, out: int(lib.pawl_child(handle, encoded, target, given, out)),
            kind_of(workflow, kind),
        )

    async def start_child(
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
        encoded, target = c_text(name), name_of(workflow)
        data = self._payloads.dump({} if input is None else input)
        given = (ffi.from_buffer(data), len(data))
        found: list[bytes] = []

        def call(handle: Pointer, out: Pointer) -> int:
            status = int(lib.pawl_child_detached(handle, encoded, target, given, out))
            if status == OK:
                found.append(data_of(out[0]) or b"{}")
                out[0] = NONE
            return status

        await self._call(name, lambda handle: child_options(handle, priority, delay, metadata, limit_key), call, None)
        return str(json.loads(found[-1]).get("run_id"))

    # --- branches

    def branch(self, name: str) -> Self:
        """Makes a branch: its calls are recorded as NAME/…, and are counted apart from those of other branches."""
        if self._live.closed or self._run is None:
            raise UsageError("the run has ended", "Await every call before the handler returns.")
        made = ffi.new("pawl_run **")
        status = lib.pawl_run_branch(self._run, c_text(name), made)
        if status != OK:
            raise run_error(self._run, status, self._payloads)
        return type(self)(self._live, made[0])

    async def parallel(
        self,
        branches: Mapping[str, Callable[[AsyncContext], Awaitable[Any]]] | None = None,
        /,
        **named: Callable[[AsyncContext], Awaitable[Any]],
    ) -> list[Any]:
        """Executes branches at the same time, each function with the context of its branch.

        Returns their results in order. If a branch waits, so does the run; otherwise the first
        failure in order is raised, after all branches have ended.
        """
        functions = {**(branches or {}), **named}
        return await self.gather(*[function(self.branch(name)) for name, function in functions.items()])

    async def gather(self, *calls: Awaitable[Any]) -> list[Any]:
        """Awaits calls of this run at the same time, as asyncio.gather() does, and lets all of them end.

        Raises the first failure in the order given, which is the same on every replay.
        asyncio.gather() raises the failure that comes first in time.
        """
        return join([_Raised(r) if isinstance(r, BaseException) else r for r in await asyncio.gather(*calls, return_exceptions=True)])

    async def first(
        self,
        name: str,
        branches: Mapping[str, Callable[[AsyncContext], Awaitable[Any]]] | None = None,
        /,
        **named: Callable[[AsyncContext], Awaitable[Any]],
    ) -> tuple[str, Any]:
        """The first of several waits: executes branches and does not wait for those that are suspended.

        As soon as one has ended, and the others have ended or wait, a step called name records which,
        so every replay gets the same. Returns the name of that branch and its result, or raises what
        it raised.
        """
        live, functions = self._live, {**(branches or {}), **named}
        tasks = {branch: asyncio.ensure_future(function(self.branch(branch))) for branch, function in functions.items()}
        ended = asyncio.gather(*tasks.values(), return_exceptions=True)
        still = live.loop.loop.create_future()
        live.firsts.append(still)
        try:
            live.rest()
            await asyncio.wait([still, ended], return_when=asyncio.FIRST_COMPLETED)
            results = {branch: _outcome(task) for branch, task in tasks.items()}
            chosen = choose(results)
            if chosen is None:
                live.rest()
                await live.loop.loop.create_future()  # for ever: the run is released
        finally:
            if still in live.firsts:
                live.firsts.remove(still)
            ended.cancel()
            for task in tasks.values():
                task.cancel()
        await asyncio.wait(tasks.values())
        recorded = str(await self.step(name, lambda: chosen))
        return recorded, join([results[recorded]])[0]


def _call_here(name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Calls the function of a step in the loop, and reports it if that blocked the loop."""
    began = time.perf_counter()
    try:
        return function(*args)
    except GeneratorExit as exc:
        raise Failure("the step raised GeneratorExit", code="GeneratorExit") from exc
    finally:
        took = time.perf_counter() - began
        if took > SLOW_S:
            logger.warning('step "%s" blocked the event loop for %.0f ms; declare it with pawl.blocking()', name, took * 1000)


async def _within(value: Awaitable[Any], limit_ms: int, began: float) -> Any:
    """Awaits a step, and interrupts it at its time limit."""
    try:
        async with asyncio.timeout(limit_ms / 1000):
            return await value
    except TimeoutError as exc:
        took_ms = (time.perf_counter() - began) * 1000
        if took_ms < limit_ms:
            raise
        raise Failure(f"the step took {took_ms:.0f} ms, its limit is {limit_ms} ms", code="timeout") from exc


def _outcome(task: asyncio.Future[Any]) -> Any:
    """What a branch has come to; one that is not done is suspended."""
    if not task.done() or task.cancelled():
        return _Raised(Suspended())
    exc = task.exception()
    return task.result() if exc is None else _Raised(exc)


class Loop:
    """The loop's side of a worker: takes runs and answers when the worker's descriptor is readable."""

    def __init__(self, worker: Worker) -> None:
        """Made by the worker, inside the loop."""
        self.worker = worker
        self.loop = asyncio.get_running_loop()
        self.pending: dict[Any, Any] = {}
        self.lives: dict[Any, Live] = {}
        self.blocking: set[asyncio.Future[None]] = set()
        self.left = False  # the worker has stopped: no call can get another answer
        self.drained: asyncio.Future[None] = self.loop.create_future()
        self._slot = ffi.new("pawl_run **")
        self._reason = ffi.new("int *")
        self._error = ffi.new("pawl_error **")
        self._threads: Any = None

    def threads(self) -> Any:
        """The threads of blocking steps and plain handlers."""
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor

            self._threads = ThreadPoolExecutor(self.worker.concurrency, thread_name_prefix="pawl")
        return self._threads

    async def in_thread(self, call: Callable[[], Any]) -> Any:
        """Executes a blocking function. It cannot be interrupted, so a cancel waits until it returns."""
        context = contextvars.copy_context()
        future = self.loop.run_in_executor(self.threads(), lambda: context.run(call))
        cancelled: asyncio.CancelledError | None = None
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError as exc:
                cancelled = exc
        if cancelled is not None:
            future.exception()
            raise cancelled
        return future.result()

    def leave(self) -> None:
        """The worker has stopped, and all answers are taken: nothing waits for others."""
        self.left = True
        for live in self.lives.values():
            if live.settled is not None and not live.settled.done():
                live.settled.set_result(None)

    def close(self) -> None:
        """Ends the threads."""
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    def readable(self) -> None:
        """Takes what the worker has: runs, answers, notices and log lines."""
        handle, pending, slot = self.worker.handle, self.pending, self._slot
        next_run, status = lib.pawl_worker_next, OK
        for _ in range(TAKEN_AT_ONCE):
            status = next_run(handle, 0, slot, self._error)
            if status != OK:
                break
            run = slot[0]
            waiting = pending.pop(run, None)
            if waiting is None:
                self._begin(run)
            elif isinstance(waiting, Abandoned):
                waiting.live.taken(run, waiting)
            elif not waiting.done():
                waiting.set_result(None)
        if status == DRAINED:
            if not self.drained.done():
                self.drained.set_result(None)
        elif status not in (OK, lib.PAWL_ETIMEOUT):
            try:
                raise_error(status, self._error)
            except Exception as exc:
                self.fail(exc)
        self._take_notices()
        self.worker.take_log()

    def _take_notices(self) -> None:
        """Interrupts runs that must stop. The step's own time limit is kept by asyncio.timeout()."""
        while lib.pawl_worker_notice(self.worker.handle, self._slot, self._reason) == OK:
            live = self.lives.get(self._slot[0])
            if live is not None and self._reason[0] == lib.PAWL_NOTICE_CANCELLED:
                live.stop(ECANCELLED)
            elif live is not None and self._reason[0] == lib.PAWL_NOTICE_LEASE_LOST:
                live.stop(ELEASE_LOST)

    def _begin(self, run: Pointer) -> None:
        """Starts the handler of a claimed run."""
        app = self.worker.app
        found = app.find(text(lib.pawl_run_workflow(run)))
        rolling_back = lib.pawl_run_rolling_back(run)
        if not rolling_back and found is not None and not found.is_async:
            # A plain function: its calls block, in a thread.
            future = self.loop.run_in_executor(self.threads(), self.worker.execute, run)
            self.blocking.add(future)
            future.add_done_callback(self._executed)
            return
        lib.pawl_run_set_nonblocking(run)
        live = self.lives[run] = Live(self, run, app.payloads)
        body = self._roll_back(live) if rolling_back else self._handle(live, found)
        live.task = self.loop.create_task(self._drive(live, body))

    def _executed(self, future: asyncio.Future[None]) -> None:
        """A thread has executed a plain handler."""
        self.blocking.discard(future)
        if not future.cancelled() and future.exception() is not None:
            self.fail(future.exception())

    def fail(self, exc: BaseException | None) -> None:
        """Ends the worker with an error that no handler has raised."""
        if exc is not None and not self.drained.done():
            self.drained.set_exception(exc)

    async def _drive(self, live: Live, body: Coroutine[Any, Any, tuple[int, bytes | None]]) -> None:
        """Executes a handler and finishes its run, whatever happens: a run that is not finished stays held."""
        live.started = True
        output: bytes | None = None
        try:
            status, output = await body
        except GeneratorExit:  # the loop is gone
            raise
        except asyncio.CancelledError:
            status = live.status or ELEASE_LOST
        except BaseException as exc:
            status = live.status or set_error(live.run, exc, live.payloads)
            self.fail(exc)
        live.closed = True
        if live.status != OK:
            live.cancel_calls()
        for task in live.parked:
            if task is not None and task is not live.task:
                task.cancel()
        await live.all_settled()
        run = live.run
        del self.lives[run]
        live.close()
        data = NONE if output is None else (ffi.from_buffer(output), len(output))
        lib.pawl_run_finish(run, status, data)

    async def _handle(self, live: Live, found: Workflow[Any, Any] | None) -> tuple[int, bytes | None]:
        """Executes the handler of a run. Returns how to finish the run, and its output."""
        run, payloads, output = live.run, live.payloads, None
        if found is None:
            set_message(run, "no_handler", f"this worker has no handler for {text(lib.pawl_run_workflow(run))}")
            return await self._call(live, lambda: int(lib.pawl_run_defer(run))), None
        if live.status != OK:
            return live.status, None
        context = AsyncContext(live, run)
        _handler.set(context)
        failure: BaseException | None = None
        try:
            if found.kinds:
                value = await found.function(context, payloads.load(data_of(lib.pawl_run_input(run)), found.kinds[0]))
            else:
                value = await found.function(context)
            output = payloads.dump(value)
        except BaseException as exc:
            failure = exc
        if live.status != OK:
            return live.status, None
        if live.releasing or live.waits():
            return SUSPENDED, None
        if failure is None:
            return OK, output
        # The failure is set on the run after all its calls have returned.
        await live.all_settled()
        if live.status != OK or live.waits():
            return live.status or SUSPENDED, None
        return set_error(run, failure, payloads), None

    async def _call(self, live: Live, call: Callable[[], int]) -> int:
        """Makes a call on the run itself, outside a context."""
        status = call()
        if status == PENDING:
            live.begin(live.run, live.task)
            status = await live.answer(live.run, call)
            live.end(live.run)
        return status

    async def _roll_back(self, live: Live) -> tuple[int, bytes | None]:
        """Executes the undos of a run, last step first."""
        run, app = live.run, self.worker.app
        name, argument, output = ffi.new("const char **"), ffi.new("pawl_bytes *"), ffi.new("pawl_bytes *")
        context = UndoContext(run, live.payloads)
        _handler.set(context)
        try:
            while True:
                status = await self._call(live, lambda: int(lib.pawl_run_undo_next(run, name, argument, output)))
                if status != EXECUTE:
                    return status, None
                undo = app.undos.get(text(name[0]))
                if undo is None:
                    set_message(run, "no_undo", f'this worker has no undo handler "{text(name[0])}"')
                    return await self._call(live, lambda: int(lib.pawl_run_defer(run))), None
                status = await self._undo(live, undo, context, data_of(argument[0]), data_of(output[0]))
                ended = status
                status = await self._call(live, lambda: int(lib.pawl_step_finish(run, ended, NONE, NULL)))  # noqa: B023
                if status != OK:
                    return status, None
        except asyncio.CancelledError:
            return live.status or ELEASE_LOST, None
        finally:
            context._run = None

    async def _undo(self, live: Live, undo: Any, context: UndoContext, argument: bytes | None, output: bytes | None) -> int:
        """Executes one undo handler. Returns the status to finish it with."""
        payloads = live.payloads
        step = Step(live.run, undo.name, payloads)
        token = _current.set(step)
        try:
            given = payloads.load(argument, undo.kinds[0]), payloads.load(output, undo.kinds[1])
            if undo.is_async:
                await undo.function(context, *given)
            else:
                await self.in_thread(lambda: undo.function(context, *given))
            return OK
        except asyncio.CancelledError:
            if live.status == OK:
                return EFAILED
            return live.status
        except BaseException as exc:
            return set_error(live.run, exc, payloads)
        finally:
            step.close()
            _current.reset(token)
