# SPDX-License-Identifier: Apache-2.0
"""Verbs of pawl as plain SQL on the program's own connection, and so in its own transaction.

No driver is imported here: the type of the connection says which one it belongs to.
"""
# An asynchronous connection is an object, too; the first overload that matches counts.
# pyright: reportOverlappingOverload=false

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol, overload

from . import _trace
from ._codec import Payloads
from ._errors import UsageError
from ._seconds import Seconds, milliseconds


class RunId(str):
    """The id of a run, a plain str. ``created`` is False if a run with this key existed before.

    ``handled`` is whether a live worker handles the workflow; without one the run waits.
    """

    created: bool
    handled: bool

    def __new__(cls, value: str, created: bool = True, handled: bool = True) -> RunId:
        """Makes the id with what trigger() returned besides it."""
        made = super().__new__(cls, value)
        made.created = created
        made.handled = handled
        return made


class _Entered(Protocol):
    """A connection or session that ``async with`` accepts: psycopg's and SQLAlchemy's."""

    def __aenter__(self) -> Awaitable[Any]: ...


class _Fetching(Protocol):
    """A connection of asyncpg."""

    def fetchval(self, query: str, *args: Any) -> Awaitable[Any]: ...


AsyncConnection = _Entered | _Fetching
Row = Sequence[Any]


def interval(value: Seconds | None) -> str | None:
    """A duration as PostgreSQL reads it."""
    return None if value is None else f"{milliseconds(value)} milliseconds"


def array(values: Sequence[str | None]) -> str:
    """A list of texts as PostgreSQL reads it."""

    def quote(value: str | None) -> str:
        if value is None:
            return "NULL"
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    return "{" + ",".join(quote(value) for value in values) + "}"


def driver(connection: Any) -> str:
    """The driver that a connection, cursor, session or pool belongs to; "dbapi" for others with cursors."""
    for cls in type(connection).__mro__:
        module = cls.__module__.split(".")[0]
        if module in ("psycopg", "psycopg_pool", "asyncpg", "sqlalchemy", "django", "sqlmodel"):
            return {"psycopg_pool": "psycopg", "sqlmodel": "sqlalchemy"}.get(module, module)
    if hasattr(connection, "cursor"):
        return "dbapi"
    raise UsageError(
        f"no way to send SQL through a {type(connection).__module__}.{type(connection).__qualname__}",
        "Pass a connection of psycopg, asyncpg or Django, a Session or Connection of SQLAlchemy, or a pawl.Client.",
    )


def is_async(connection: Any) -> bool:
    """Whether calls on a connection have to be awaited."""
    return hasattr(connection, "__aenter__") or hasattr(connection, "fetchval")


def _statement(columns: str, verb: str, arguments: dict[str, tuple[str, str]], mark: str) -> tuple[str, list[str]]:
    """The call of a verb with its arguments by name. All values are texts, and the server casts them."""
    places = []
    for index, (name, (kind, _)) in enumerate(arguments.items()):
        place = mark if mark == "%s" else f"{mark}{index + 1}"
        places.append(f"{name} => cast(cast({place} as text) as {kind})")
    return f"select {columns} from pawl.{verb}({', '.join(places)})", [value for _, value in arguments.values()]


async def _fetch_psycopg(connection: Any, sql: str, values: list[str]) -> list[Row]:
    from psycopg.rows import tuple_row

    async with getattr(connection, "connection", connection).cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(sql, values)
        rows: list[Row] = await cursor.fetchall()
        return rows


async def _fetch_asyncpg(connection: Any, sql: str, values: list[str]) -> list[Row]:
    return [tuple(row) for row in await connection.fetch(sql, *values)]


async def _fetch_sqlalchemy(connection: Any, sql: str, values: list[str]) -> list[Row]:
    from sqlalchemy import text

    found = await connection.execute(text(sql), {f"p{i + 1}": value for i, value in enumerate(values)})
    return [tuple(row) for row in found.fetchall()]


def fetch_async(connection: Any, columns: str, verb: str, arguments: dict[str, tuple[str, str]]) -> Awaitable[list[Row]]:
    """Calls a verb on an asynchronous connection."""
    found = driver(connection)
    if found == "psycopg":
        return _fetch_psycopg(connection, *_statement(columns, verb, arguments, "%s"))
    if found == "sqlalchemy":
        return _fetch_sqlalchemy(connection, *_statement(columns, verb, arguments, ":p"))
    return _fetch_asyncpg(connection, *_statement(columns, verb, arguments, "$"))


def fetch(connection: Any, columns: str, verb: str, arguments: dict[str, tuple[str, str]]) -> list[Row]:
    """Calls a verb on a connection that blocks."""
    found = driver(connection)
    if found == "sqlalchemy":
        from sqlalchemy import text

        sql, values = _statement(columns, verb, arguments, ":p")
        reply = connection.execute(text(sql), {f"p{i + 1}": value for i, value in enumerate(values)})
        return [tuple(row) for row in reply.fetchall()]
    sql, values = _statement(columns, verb, arguments, "%s")
    if found == "psycopg":
        from psycopg.rows import tuple_row

        with getattr(connection, "connection", connection).cursor(row_factory=tuple_row) as cursor:
            rows: list[Row] = cursor.execute(sql, values).fetchall()
            return rows
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [tuple(row) for row in cursor.fetchall()]


def _given(**arguments: tuple[str, str | None]) -> dict[str, tuple[str, str]]:
    """Leaves out what was not given, so that the engine's defaults hold."""
    return {name: (kind, value) for name, (kind, value) in arguments.items() if value is not None}


def _call(connection: Any, columns: str, verb: str, arguments: dict[str, tuple[str, str]], finish: Any) -> Any:
    """Calls a verb and passes its rows to finish; returns an awaitable for an asynchronous connection."""
    if hasattr(connection, "__pawl_fetch__"):
        return finish(connection.__pawl_fetch__(columns, verb, {name: value for name, (_, value) in arguments.items()}))
    if not is_async(connection):
        return finish(fetch(connection, columns, verb, arguments))

    async def later() -> Any:
        return finish(await fetch_async(connection, columns, verb, arguments))

    return later()


def _run_id(rows: list[Row]) -> RunId:
    return RunId(str(rows[0][0]), _true(rows[0][1]), _true(rows[0][2]))


def _true(value: Any) -> bool:
    return value is True or value in ("t", "true")


def _workflow(workflow: Any) -> str:
    return workflow if isinstance(workflow, str) else str(workflow.name)


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def options(
    *,
    key: str | None = None,
    tenant: str | None = None,
    priority: int | None = None,
    delay: Seconds | None = None,
    metadata: dict[str, Any] | None = None,
    id: str | None = None,
    key_ttl: Seconds | None = None,
    key_while_active: bool = False,
    limit_key: str | None = None,
    tags: Sequence[str] | None = None,
    expires: Seconds | None = None,
    replace: bool = False,
    debounce: Seconds | None = None,
    debounce_max: Seconds | None = None,
) -> dict[str, tuple[str, str]]:
    """The options of a trigger, as arguments of the verb."""
    return _given(
        key=("text", key),
        tenant=("text", tenant),
        priority=("int", None if priority is None else str(priority)),
        delay=("interval", interval(delay)),
        metadata=("json", _json(_trace.for_trigger(metadata))),
        id=("uuid", id),
        key_ttl=("interval", interval(key_ttl)),
        key_while_active=("boolean", "true" if key_while_active else None),
        limit_key=("text", limit_key),
        tags=("text[]", None if tags is None else array(tags)),
        expires=("interval", interval(expires)),
        replace=("boolean", "true" if replace else None),
        debounce=("interval", interval(debounce)),
        debounce_max=("interval", interval(debounce_max)),
    )


def options_of_many(**given: Any) -> dict[str, tuple[str, str]]:
    """The options that all runs of one call have in common, as arguments of a trigger of one run."""
    found = options(**given)
    for name in ("key", "id", "replace", "debounce", "debounce_max"):
        if name in found:
            hint = "Pass keys, one for each input." if name == "key" else "Trigger the runs one by one."
            raise UsageError(f"{name} is an option of a single run", hint)
    return found


def send_trigger(connection: Any, workflow: Any, input: Any, payloads: Payloads, **given: Any) -> Any:
    """Triggers a run on any connection."""
    data = payloads.dump({} if input is None else input).decode()
    arguments = {"workflow": ("text", _workflow(workflow)), "input": ("json", data), **options(**given)}
    return _call(connection, "run_id, created, handled", "trigger", arguments, _run_id)


def send_trigger_many(
    connection: Any,
    workflow: Any,
    inputs: Sequence[Any],
    payloads: Payloads,
    keys: Sequence[str | None] | None = None,
    **given: Any,
) -> Any:
    """Triggers many runs of one workflow on any connection."""
    data = array([payloads.dump({} if value is None else value).decode() for value in inputs])
    arguments = {"workflow": ("text", _workflow(workflow)), "inputs": ("json[]", data), **options_of_many(**given)}
    if "limit_key" in arguments:
        arguments["limit_keys"] = ("text[]", array([arguments.pop("limit_key")[1]] * len(inputs)))
    if keys is not None:
        arguments["keys"] = ("text[]", array(keys))
    return _call(
        connection,
        "run_id, created, handled",
        "trigger_many",
        arguments,
        lambda rows: [_run_id([row]) for row in rows],
    )


_default = Payloads()


def _payloads(codec: Any) -> Payloads:
    return _default if codec is None else Payloads(codec)


@overload
def trigger(connection: AsyncConnection, workflow: Any, input: Any = None, **options: Any) -> Awaitable[RunId]: ...
@overload
def trigger(connection: object, workflow: Any, input: Any = None, **options: Any) -> RunId: ...
def trigger(connection: Any, workflow: Any, input: Any = None, *, codec: Any = None, **options: Any) -> Any:
    """Triggers a run in the caller's transaction and returns its id; await it on an asynchronous connection.

    The run exists if and only if that transaction commits. Options: key, tenant, priority, delay,
    metadata, id, key_ttl, key_while_active, limit_key, tags, expires, replace, debounce, debounce_max,
    and the codec of the application.
    ``Workflow.trigger`` does the same with the types and the codec of its application.
    """
    return send_trigger(connection, workflow, input, _payloads(codec), **options)


@overload
def trigger_many(connection: AsyncConnection, workflow: Any, inputs: Sequence[Any], **options: Any) -> Awaitable[list[RunId]]: ...
@overload
def trigger_many(connection: object, workflow: Any, inputs: Sequence[Any], **options: Any) -> list[RunId]: ...
def trigger_many(connection: Any, workflow: Any, inputs: Sequence[Any], *, codec: Any = None, **options: Any) -> Any:
    """Triggers up to 10,000 runs of one workflow in the caller's transaction.

    Options as for trigger(), without those of a single run: key, id, replace and debounce. Takes keys,
    one for each input.
    """
    return send_trigger_many(connection, workflow, inputs, _payloads(codec), **options)


@overload
def emit(
    connection: AsyncConnection,
    topic: str,
    payload: Any = None,
    *,
    key: str | None = None,
    tenant: str | None = None,
    id: str | None = None,
    codec: Any = None,
) -> Awaitable[str]: ...
@overload
def emit(
    connection: object,
    topic: str,
    payload: Any = None,
    *,
    key: str | None = None,
    tenant: str | None = None,
    id: str | None = None,
    codec: Any = None,
) -> str: ...
def emit(
    connection: Any,
    topic: str,
    payload: Any = None,
    *,
    key: str | None = None,
    tenant: str | None = None,
    id: str | None = None,
    codec: Any = None,
) -> Any:
    """Emits an event in the caller's transaction. Returns the id of the event."""
    arguments = _given(
        topic=("text", topic),
        payload=("json", _payloads(codec).dump({} if payload is None else payload).decode()),
        key=("text", key),
        tenant=("text", tenant),
        id=("uuid", id),
    )
    return _call(connection, "event_id", "emit", arguments, lambda rows: str(rows[0][0]))


@overload
def signal(connection: AsyncConnection, run: str, name: str, payload: Any = None, *, codec: Any = None) -> Awaitable[str]: ...
@overload
def signal(connection: object, run: str, name: str, payload: Any = None, *, codec: Any = None) -> str: ...
def signal(connection: Any, run: str, name: str, payload: Any = None, *, codec: Any = None) -> Any:
    """Sends a signal to a run in the caller's transaction. Returns ``taken`` or ``stored``."""
    arguments = _given(
        run=("uuid", run),
        name=("text", name),
        payload=("json", _payloads(codec).dump({} if payload is None else payload).decode()),
    )
    return _call(connection, "signal", "signal", arguments, lambda rows: str(rows[0][0]))


@overload
def cancel(connection: AsyncConnection, run: str, why: str | None = None, *, rollback: bool = False) -> Awaitable[str]: ...
@overload
def cancel(connection: object, run: str, why: str | None = None, *, rollback: bool = False) -> str: ...
def cancel(connection: Any, run: str, why: str | None = None, *, rollback: bool = False) -> Any:
    """Cancels a run in the caller's transaction. Returns the answer: ok, already, busy, not_found or its state."""
    arguments = _given(
        runs=("uuid[]", array([run])),
        why=("text", why),
        rollback=("boolean", "true" if rollback else None),
    )
    return _call(connection, "answer", "cancel", arguments, lambda rows: str(rows[0][0]))
