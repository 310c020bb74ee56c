# SPDX-License-Identifier: Apache-2.0
"""A step inside the program's own transaction: the drivers, and what each end of a transaction means.

the work or the record fails    roll back; the attempt has failed
record_step answers ok          commit; if that fails, the outcome is unknown, and libpawl asks
record_step answers already     the step and its effects are recorded: roll back, and libpawl asks
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from ._codec import Payloads
from ._errors import UsageError
from ._sql import driver, fetch, fetch_async


class _RollBack(Exception):
    """Leaves the block of a transaction so that it is rolled back."""


_busy = UsageError(
    "the connection is in a transaction already",
    "A transactional step begins and commits its own transaction: pass an idle connection, or a pool.",
)


@contextlib.contextmanager
def _psycopg(source: Any) -> Iterator[Any]:
    if hasattr(source, "getconn"):
        with source.connection() as connection, connection.transaction():
            yield connection
    else:
        if source.info.transaction_status != 0:
            raise _busy
        with source.transaction():
            yield source


@contextlib.contextmanager
def _sqlalchemy(source: Any) -> Iterator[Any]:
    if hasattr(source, "class_") or type(source).__name__ == "scoped_session":  # a sessionmaker
        with source() as session, session.begin():
            yield session
    elif hasattr(source, "dialect") and hasattr(source, "connect"):  # an Engine
        with source.begin() as connection:
            yield connection
    else:
        if source.in_transaction():
            raise _busy
        with source.begin():
            yield source


@contextlib.contextmanager
def _django(source: Any) -> Iterator[Any]:
    from django.db import transaction

    if source.in_atomic_block:
        raise _busy
    atomic: Any = transaction.atomic
    with atomic(using=source.alias):
        yield source


@contextlib.contextmanager
def _dbapi(source: Any) -> Iterator[Any]:
    try:
        yield source
    except BaseException:
        source.rollback()
        raise
    source.commit()


_blocking = {"psycopg": _psycopg, "sqlalchemy": _sqlalchemy, "django": _django, "dbapi": _dbapi}


def execute(source: Any, token: str, work: Callable[[Any], Any], payloads: Payloads) -> BaseException | None:
    """Does the work and records the step in one transaction. Returns what failed before the commit, or None."""
    committing = False
    try:
        if driver(source) not in _blocking:
            raise UsageError("this connection is asynchronous", "Make the handler an async function.")
        with _blocking[driver(source)](source) as connection:
            data = payloads.dump(work(connection)).decode()
            arguments = {"token": ("text", token), "output": ("json", data)}
            answer = fetch(connection, "record_step", "record_step", arguments)[0][0]
            committing = True
            if answer != "ok":
                raise _RollBack
    except BaseException as exc:
        return None if committing else exc
    return None


@contextlib.asynccontextmanager
async def _psycopg_async(source: Any) -> AsyncIterator[Any]:
    if hasattr(source, "getconn"):
        async with source.connection() as connection, connection.transaction():
            yield connection
    else:
        if source.info.transaction_status != 0:
            raise _busy
        async with source.transaction():
            yield source


@contextlib.asynccontextmanager
async def _asyncpg(source: Any) -> AsyncIterator[Any]:
    if hasattr(source, "acquire"):
        async with source.acquire() as connection, connection.transaction():
            yield connection
    else:
        if source.is_in_transaction():
            raise _busy
        async with source.transaction():
            yield source


@contextlib.asynccontextmanager
async def _sqlalchemy_async(source: Any) -> AsyncIterator[Any]:
    if hasattr(source, "class_"):  # an async_sessionmaker
        async with source() as session, session.begin():
            yield session
    elif hasattr(source, "dialect") and hasattr(source, "connect"):  # an AsyncEngine
        async with source.begin() as connection:
            yield connection
    else:
        if source.in_transaction():
            raise _busy
        async with source.begin():
            yield source


_asynchronous = {"psycopg": _psycopg_async, "asyncpg": _asyncpg, "sqlalchemy": _sqlalchemy_async}


async def execute_async(source: Any, token: str, work: Callable[[Any], Awaitable[Any]], payloads: Payloads) -> BaseException | None:
    """Does what execute() does, with an asynchronous connection.

    Raises CancelledError only if the task was cancelled during the commit, whose outcome is then unknown.
    """
    committing = False
    try:
        if driver(source) not in _asynchronous:
            raise UsageError("this connection blocks", "Pass an asynchronous connection, or make the handler a plain function.")
        async with _asynchronous[driver(source)](source) as connection:
            data = payloads.dump(await work(connection)).decode()
            arguments = {"token": ("text", token), "output": ("json", data)}
            answer = (await fetch_async(connection, "record_step", "record_step", arguments))[0][0]
            committing = True
            if answer != "ok":
                raise _RollBack
    except asyncio.CancelledError as exc:
        if committing:
            raise
        return exc
    except BaseException as exc:
        return None if committing else exc
    return None
