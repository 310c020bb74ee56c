# SPDX-License-Identifier: Apache-2.0
"""The registry of an application: its workflows and undo handlers. It has no connection and no thread."""
# An asynchronous connection is an object, too; the first overload that matches counts.
# pyright: reportOverlappingOverload=false

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import inspect
import os
import sys
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypedDict, TypeVar, Unpack, overload

from ._codec import Codec, Payloads
from ._errors import UsageError
from ._seconds import Seconds
from ._sql import AsyncConnection, RunId, send_trigger, send_trigger_many

if TYPE_CHECKING:
    from ._aio import AsyncContext
    from ._context import Context, UndoContext
    from ._worker import Worker

I = TypeVar("I")  # noqa: E741
O = TypeVar("O")  # noqa: E741
R = TypeVar("R")
P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])


class TriggerOptions(TypedDict, total=False):
    """Options of a trigger; pawl.trigger in docs/sql-api.md describes them. Durations are seconds or timedeltas."""

    key: str | None
    tenant: str | None
    priority: int | None
    delay: Seconds | None
    metadata: dict[str, Any] | None
    id: str | None
    key_ttl: Seconds | None
    key_while_active: bool
    limit_key: str | None
    tags: Sequence[str] | None
    expires: Seconds | None
    replace: bool
    debounce: Seconds | None
    debounce_max: Seconds | None


@dataclasses.dataclass(frozen=True, slots=True)
class Retry:
    """The retry policy of a step. What is None is as in the workflow.

    max_attempts counts the first attempt. The n-th retry waits for base times factor to the power of
    n - 1, at most cap, in seconds; jitter is the random share of that, from 0 to 1.
    """

    max_attempts: int | None = None
    base: Seconds | None = None
    factor: float | None = None
    cap: Seconds | None = None
    jitter: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Compensation:
    """An undo handler with its argument, for the option undo of a step; Undo.with_input() makes it."""

    name: str
    input: Any
    retry: Retry | None = None


class Blocking(Generic[P, R]):
    """A plain function that an async context executes in a thread; pawl.blocking() makes it."""

    __slots__ = ("__annotations__", "__code__", "__globals__", "function")

    def __init__(self, function: Callable[P, R]) -> None:
        """Wraps a function."""
        self.function = function
        self.__annotations__ = getattr(function, "__annotations__", {})
        self.__code__ = getattr(function, "__code__", None)
        self.__globals__ = getattr(function, "__globals__", {})

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls the function, here."""
        return self.function(*args, **kwargs)


def blocking(function: Callable[P, R]) -> Blocking[P, R]:
    """Declares that a plain function blocks: as a step of an async handler it is executed in a thread."""
    return Blocking(function)


def _hints(function: Callable[..., Any], locals_: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return typing.get_type_hints(inspect.unwrap(function), localns=locals_, include_extras=True)
    except NameError:
        return None


class _Handler:
    """A function with what its signature says."""

    def __init__(self, app: App, name: str, function: Callable[..., Any], locals_: dict[str, Any]) -> None:
        self.app = app
        self.name = name
        self.function = function
        self.is_async = inspect.iscoroutinefunction(function)
        self._names = list(inspect.signature(function).parameters)
        self._locals = locals_
        self._found: dict[str, Any] | None = None

    def _resolve(self) -> dict[str, Any]:
        if self._found is None:
            self._found = _hints(self.function, self._locals)
        if self._found is None:
            raise UsageError(
                f"an annotation of {self.function.__qualname__} cannot be resolved",
                "Define the type where the module can see it.",
            )
        return self._found

    @functools.cached_property
    def kinds(self) -> list[Any]:
        """The annotations of the parameters after the context; None where there is none."""
        return [self._resolve().get(name) for name in self._names[1:]]

    @functools.cached_property
    def result(self) -> Any:
        """The annotation of what the function returns; None if there is none."""
        return self._resolve().get("return")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function itself, for tests of it."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class Workflow(_Handler, Generic[I, O]):
    """A workflow with its handler; ``@app.workflow(name)`` makes it. I and O are the types of input and output."""

    @overload
    def trigger(self, connection: AsyncConnection, input: I | None = None, **options: Unpack[TriggerOptions]) -> Awaitable[RunId]: ...
    @overload
    def trigger(self, connection: object, input: I | None = None, **options: Unpack[TriggerOptions]) -> RunId: ...
    def trigger(self, connection: Any, input: I | None = None, **options: Unpack[TriggerOptions]) -> Any:
        """Triggers a run in the transaction of connection and returns its id; await it on an async connection.

        The run exists if and only if that transaction commits. connection is a connection of psycopg,
        asyncpg or Django, a Session or Connection of SQLAlchemy, or a pawl.Client.
        """
        return send_trigger(connection, self.name, input, self.app.payloads, **options)

    @overload
    def trigger_many(
        self,
        connection: AsyncConnection,
        inputs: Sequence[I],
        keys: Sequence[str | None] | None = None,
        **options: Unpack[TriggerOptions],
    ) -> Awaitable[list[RunId]]: ...
    @overload
    def trigger_many(
        self,
        connection: object,
        inputs: Sequence[I],
        keys: Sequence[str | None] | None = None,
        **options: Unpack[TriggerOptions],
    ) -> list[RunId]: ...
    def trigger_many(
        self,
        connection: Any,
        inputs: Sequence[I],
        keys: Sequence[str | None] | None = None,
        **options: Unpack[TriggerOptions],
    ) -> Any:
        """Triggers up to 10,000 runs in the transaction of connection, as trigger() does; without key, id, replace and debounce."""
        return send_trigger_many(connection, self.name, inputs, self.app.payloads, keys, **options)


class Undo(_Handler, Generic[I]):
    """An undo handler; ``@app.undo(name)`` makes it. I is the type of its argument."""

    def with_input(self, input: I, retry: Retry | None = None) -> Compensation:
        """Returns the undo with its argument, which is stored when the step begins, for the option undo of a step."""
        return Compensation(self.name, input, retry)


class _Workflows:
    """What ``app.workflow(name)`` returns: the decorator."""

    def __init__(self, app: App, name: str) -> None:
        self._app = app
        self._name = name

    @overload
    def __call__(self, function: Callable[[AsyncContext, I], Coroutine[Any, Any, O]]) -> Workflow[I, O]: ...
    @overload
    def __call__(self, function: Callable[[AsyncContext], Coroutine[Any, Any, O]]) -> Workflow[None, O]: ...
    @overload
    def __call__(self, function: Callable[[Context, I], O]) -> Workflow[I, O]: ...
    @overload
    def __call__(self, function: Callable[[Context], O]) -> Workflow[None, O]: ...
    def __call__(self, function: Callable[..., Any]) -> Any:
        """Registers the handler."""
        made: Workflow[Any, Any] = Workflow(self._app, self._name, function, sys._getframe(1).f_locals)
        if len(made._names) not in (1, 2):
            raise UsageError(
                f"{function.__qualname__} takes {len(made._names)} parameters",
                "A handler takes the context, and the input if it wants it.",
            )
        if self._name in self._app.workflows:
            raise UsageError(f'the workflow "{self._name}" has a handler already')
        self._app.workflows[self._name] = made
        return made


class _Undos:
    """What ``app.undo(name)`` returns: the decorator."""

    def __init__(self, app: App, name: str) -> None:
        self._app = app
        self._name = name

    @overload
    def __call__(self, function: Callable[[UndoContext, I, Any], Coroutine[Any, Any, None]]) -> Undo[I]: ...
    @overload
    def __call__(self, function: Callable[[UndoContext, I, Any], None]) -> Undo[I]: ...
    def __call__(self, function: Callable[..., Any]) -> Any:
        """Registers the undo handler."""
        made: Undo[Any] = Undo(self._app, self._name, function, sys._getframe(1).f_locals)
        if len(made._names) != 3:
            raise UsageError(
                f"{function.__qualname__} takes {len(made._names)} parameters",
                "An undo handler takes the context, the argument that the step stored, and the output of the step.",
            )
        if self._name in self._app.undos:
            raise UsageError(f'there is an undo handler "{self._name}" already')
        self._app.undos[self._name] = made
        return made


class App:
    """The workflows and undo handlers of a program. No global state, no connection.

    codec changes all payloads on their way to the database and back, for example to encrypt them.
    version is the version of your code; ``list_workers`` shows it.
    """

    def __init__(self, *, codec: Codec | None = None, version: str = "") -> None:
        """Makes an empty application."""
        self.workflows: dict[str, Workflow[Any, Any]] = {}
        self.undos: dict[str, Undo[Any]] = {}
        self.payloads = Payloads(codec)
        self.version = version

    def workflow(self, name: str) -> _Workflows:
        """Decorates the handler of a workflow, ``shop.order.v1``, or of all with a prefix, ``shop.*``.

        An ``async def`` is executed in the event loop, a plain function in a thread. The type of its
        second parameter is the type of the input, its result the output of the run. A task of a flow
        is handled under the name FLOW/STEP; its input has the members run, DEP … or item and index.
        """
        return _Workflows(self, name)

    def undo(self, name: str) -> _Undos:
        """Decorates an undo handler: a function of a context, the stored argument and the output of the step."""
        return _Undos(self, name)

    def find(self, name: str) -> Workflow[Any, Any] | None:
        """The handler of a workflow: the one of this name, else that of the longest prefix."""
        found = self.workflows.get(name)
        if found is None:
            prefixes = [p for p in self.workflows if p.endswith("*") and name.startswith(p[:-1])]
            found = self.workflows[max(prefixes, key=len)] if prefixes else None
        return found

    def worker(self, database: str | None = None, **settings: Any) -> Worker:
        """Makes a worker for this application; see Worker."""
        from ._worker import Worker

        return Worker(self, database, **settings)

    def lifespan(self, database: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """For FastAPI and Starlette: executes runs in the event loop of the web server, while that is up.

        ``FastAPI(lifespan=app.lifespan())``. With PAWL_WORKER=0 in the environment it does nothing, for
        servers whose workers are processes of their own.
        """

        @contextlib.asynccontextmanager
        async def serve(_: Any) -> AsyncIterator[None]:
            if os.environ.get("PAWL_WORKER") == "0":
                yield
                return
            worker = self.worker(database, **settings)
            task = asyncio.create_task(worker.serve())
            try:
                yield
            finally:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
                worker.close()

        return serve

    def run(self, database: str | None = None, **settings: Any) -> None:
        """Executes runs until SIGTERM or SIGINT, then drains; the settings are those of Worker."""
        self.worker(database, **settings).run()
