# SPDX-License-Identifier: Apache-2.0
"""The client: libpawl's own connection, for scripts, operators and waiting."""

from __future__ import annotations

import datetime
import json
import os
import threading
import time
import weakref
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from ._codec import Codec, Payloads
from ._errors import PawlError, UsageError
from ._lib import NULL, Pointer, c_text, check, data_of, ffi, lib, make_config, text
from ._seconds import Seconds, milliseconds
from ._sql import RunId, options_of_many, send_trigger

if TYPE_CHECKING:
    from types import TracebackType

    from ._app import Workflow

T = TypeVar("T")


def _value(pointer: Pointer, kind: int) -> Any:
    if pointer == NULL:
        return None
    found = text(pointer)
    if kind == lib.PAWL_TYPE_NUMBER:
        return float(found) if any(sign in found for sign in ".eN") else int(found)
    if kind == lib.PAWL_TYPE_BOOLEAN:
        return found == "t"
    if kind == lib.PAWL_TYPE_JSON:
        return json.loads(found)
    return found


def read_rows(rows: Pointer) -> list[dict[str, Any]]:
    """The rows of a call, as dictionaries with Python's values, and frees them."""
    rows = ffi.gc(rows, lib.pawl_rows_free)
    names = [ffi.string(lib.pawl_rows_column_name(rows, i)) for i in range(lib.pawl_rows_column_count(rows))]
    kinds = [lib.pawl_rows_type(rows, name) for name in names]
    return [
        {name.decode(): _value(lib.pawl_rows_text(rows, i, name), kind) for name, kind in zip(names, kinds, strict=True)}
        for i in range(lib.pawl_rows_count(rows))
    ]


def _argument(value: Any) -> str:
    """A value as PostgreSQL reads it."""
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, datetime.timedelta):
        return f"{milliseconds(value)} milliseconds"
    if isinstance(value, (list, tuple)):
        return "{" + ",".join('"' + str(part).replace("\\", "\\\\").replace('"', '\\"') + '"' for part in value) + "}"
    return json.dumps(value) if isinstance(value, dict) else str(value)


class Note(NamedTuple):
    """A note of a run, as Client.follow() yields it.

    ``note_no`` is the cursor: ``follow(run, after=note_no)`` continues here. ``at`` is when it was
    stored, ``kind`` "stream", "log", "progress" or "value". ``name`` is that of the step that streams,
    such as "ask#1", or of a progress report; ``body`` is the text. ``begins`` is True for the first
    piece of each execution of a step: forget the earlier pieces of that step.
    """

    note_no: int
    at: str
    kind: str
    name: str | None
    body: str
    begins: bool


ENDED = ("SUCCESS", "ERROR", "CANCELLED")
PAGE = 1000  # notes that one call returns at most
PAUSE, PAUSE_MAX = 0.1, 1.0  # seconds between two calls: after a note, and when nothing comes


class _Reader:
    """Where a follow is, and how long it waits before it asks again."""

    def __init__(self, client: Client, run: str, after: int, task: int, timeout: Seconds | None) -> None:
        self.client, self.run, self.after, self.task = client, run, after, task
        self.timeout = None if timeout is None else milliseconds(timeout) / 1000
        self.since: float | None = None  # when the wait for the next note began
        self.pause = PAUSE
        self.ended = False

    def ask(self) -> list[Note]:
        since = self.since = self.since or time.monotonic()
        rows = self.client.call("follow", run=self.run, after=self.after, task=self.task, max_rows=PAGE)
        load = self.client._payloads.load_text
        found = [row for row in rows if row["note_no"] is not None]
        notes = [Note(row["note_no"], row["at"], row["kind"], row["name"], load(row["body"]), bool(row["begins"])) for row in found]
        if notes:
            self.after = notes[-1].note_no
            self.since = None
        self.ended = bool(rows) and rows[-1]["status"] in ENDED
        if len(notes) == PAGE:
            self.pause = 0.0
        else:
            self.pause = PAUSE if notes else min(max(self.pause, PAUSE) * 1.5, PAUSE_MAX)
        if self.timeout is not None and not notes and not self.ended:
            left = since + self.timeout - time.monotonic()
            if left <= 0:
                raise PawlError("the run has no new notes", code="PAWL_ETIMEOUT", retryable=True)
            self.pause = min(self.pause, left)
        return notes


class Client:
    """A connection to one database. Threads may share it: their calls take turns.

    database is a connection string of libpq; without it, PAWL_DATABASE_URL and libpq's own variables
    count. Settings are those of docs/config.md, such as ``call_timeout="10s"``. A broken connection
    is opened again by the next call, and so is one that a parent process opened before fork().
    """

    def __init__(self, database: str | None = None, *, codec: Codec | None = None, **settings: Any) -> None:
        """Connects. Raises PawlError if there is no connection within connect_timeout."""
        self._config = make_config(database, settings)
        self._payloads = Payloads(codec)
        self._lock = threading.RLock()
        self._client: Pointer = None
        self._pid = 0
        _clients.add(self)
        self._open()

    def _open(self) -> None:
        out, slot = ffi.new("pawl_client **"), ffi.new("pawl_error **")
        check(lib.pawl_client_open(self._config, out, slot), slot)
        self._client = ffi.gc(out[0], lib.pawl_client_close)
        self._pid = os.getpid()

    def _use(self) -> Pointer:
        """The connection, with the lock held. Opens another one in a child process."""
        if self._client is None:
            raise UsageError("the client is closed", "Open another one.")
        if self._pid != os.getpid():
            self._open()
        return self._client

    def close(self) -> None:
        """Disconnects. May be called twice."""
        with self._lock:
            if self._client is not None:
                ffi.release(self._client)
                self._client = None

    def __enter__(self) -> Client:
        """Returns the client; leaving the block closes it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        """Closes the client."""
        self.close()

    # --- producers

    def trigger(self, workflow: str | Workflow[Any, Any], input: Any = None, **options: Any) -> RunId:
        """Triggers a run in its own transaction, and sends again after a lost reply without making a second run.

        Options: key, tenant, priority, delay, metadata, id, key_ttl, key_while_active, limit_key, tags,
        expires, replace, debounce, debounce_max.
        """
        return send_trigger(self, workflow, input, self._payloads, **options)  # type: ignore[no-any-return]

    def trigger_many(
        self,
        workflow: str | Workflow[Any, Any],
        inputs: Sequence[Any],
        keys: Sequence[str | None] | None = None,
        **options: Any,
    ) -> list[RunId]:
        """Triggers up to 10,000 runs in one transaction.

        Options as for trigger(), without those of a single run: key, id, replace and debounce. Takes keys,
        one for each input.
        """
        name = workflow if isinstance(workflow, str) else workflow.name
        arguments = {"workflow": name, **{name: value for name, (_, value) in options_of_many(**options).items()}}
        trigger, slot = self._new_trigger(arguments), ffi.new("pawl_error **")
        for i, value in enumerate(inputs):
            data, key = self._payloads.dump({} if value is None else value), keys[i] if keys else None
            lib.pawl_trigger_add(trigger, (ffi.from_buffer(data), len(data)), c_text(key) if key else NULL)
        count = max(len(inputs), 1)
        ids, flags = ffi.new("char[]", 37 * count), ffi.new("uint32_t[]", count)
        with self._lock:
            check(lib.pawl_client_trigger_many(self._use(), trigger, ids, flags, slot), slot)
        return [RunId(text(ids + 37 * i), bool(flags[i] & lib.PAWL_CREATED), bool(flags[i] & lib.PAWL_HANDLED)) for i in range(len(inputs))]

    def _new_trigger(self, arguments: dict[str, str]) -> Pointer:
        trigger = ffi.gc(lib.pawl_trigger_new(c_text(arguments["workflow"])), lib.pawl_trigger_free)
        for name, value in arguments.items():
            if name in ("workflow", "input"):
                continue
            if name in ("delay", "key_ttl", "expires", "debounce", "debounce_max"):
                name, value = name + "_ms", value.split(" ")[0]
            elif name in ("key_while_active", "replace"):
                value = "on"
            elif name == "tags":
                # An array as PostgreSQL reads it; its quotes are those of JSON.
                value = json.dumps(json.loads(f"[{value[1:-1]}]", strict=False))
            lib.pawl_trigger_set(trigger, c_text(name), c_text(value))
        return trigger

    def _send_one(self, arguments: dict[str, str]) -> list[Sequence[Any]]:
        trigger, slot = self._new_trigger(arguments), ffi.new("pawl_error **")
        data = arguments["input"].encode()
        buffer = ffi.from_buffer(data)
        lib.pawl_trigger_set_input(trigger, (buffer, len(data)))
        run_id, flags = ffi.new("char[37]"), ffi.new("uint32_t *")
        with self._lock:
            check(lib.pawl_client_trigger(self._use(), trigger, run_id, flags, slot), slot)
        return [(text(run_id), bool(flags[0] & lib.PAWL_CREATED), bool(flags[0] & lib.PAWL_HANDLED))]

    def __pawl_fetch__(self, columns: str, verb: str, arguments: dict[str, str]) -> list[Sequence[Any]]:
        """Sends what pawl.trigger() and the like make of their arguments."""
        if verb == "trigger":
            return self._send_one(arguments)
        if verb == "emit":
            slot, payload = ffi.new("pawl_error **"), arguments["payload"].encode()
            topic, key, tenant = (c_text(arguments.get(name) or "") for name in ("topic", "key", "tenant"))
            with self._lock:
                status = lib.pawl_client_emit(
                    self._use(), topic, key or NULL, tenant or NULL, (ffi.from_buffer(payload), len(payload)), slot
                )
            check(status, slot)
            return [("",)]
        rows = self.call(verb, **arguments)
        return [tuple(row[name] for name in columns.split(", ")) for row in rows]

    def emit(self, topic: str, payload: Any = None, *, key: str | None = None, tenant: str | None = None) -> None:
        """Emits an event. A repeated call stores a second event."""
        data = self._payloads.dump({} if payload is None else payload).decode()
        arguments = {"topic": topic, "payload": data, "key": key or "", "tenant": tenant or ""}
        self.__pawl_fetch__("event_id", "emit", arguments)

    def signal(self, run: str, name: str, payload: Any = None) -> None:
        """Sends a signal to a run. A repeated call sends a second signal."""
        data, slot = self._payloads.dump({} if payload is None else payload), ffi.new("pawl_error **")
        run_id, signal_name = c_text(run), c_text(name)
        with self._lock:
            status = lib.pawl_client_signal(self._use(), run_id, signal_name, (ffi.from_buffer(data), len(data)), slot)
        check(status, slot)

    def approve(self, run: str, name: str, *, by: str | None = None, why: str | None = None, payload: Any = None) -> None:
        """Approves what a run waits for. A repeated call decides the next approval of that name."""
        self._decide("approve", run, name, by, why, payload)

    def reject(self, run: str, name: str, *, by: str | None = None, why: str | None = None, payload: Any = None) -> None:
        """Rejects what a run waits for. A repeated call decides the next approval of that name."""
        self._decide("reject", run, name, by, why, payload)

    def _decide(self, verb: str, run: str, name: str, by: str | None, why: str | None, payload: Any) -> None:
        data = None if payload is None else self._payloads.dump(payload).decode()
        self.call(verb, run=run, name=name, by=by, why=why, payload=data)

    def cancel(self, run: str, why: str | None = None, *, rollback: bool = False) -> None:
        """Cancels a run permanently; with rollback, its undos are executed."""
        run_id, reason, slot = c_text(run), c_text(why or ""), ffi.new("pawl_error **")
        with self._lock:
            status = lib.pawl_client_cancel(self._use(), run_id, reason or NULL, lib.PAWL_ROLLBACK if rollback else 0, slot)
        check(status, slot)

    # --- results

    @overload
    def wait(self, run: str, timeout: Seconds = ..., *, kind: type[T]) -> T: ...
    @overload
    def wait(self, run: str, timeout: Seconds = ..., *, kind: None = None) -> Any: ...
    def wait(self, run: str, timeout: Seconds = 30.0, *, kind: Any = None) -> Any:
        """Blocks until a run has ended and returns its output, as kind if that is given.

        Raises PawlError with code PAWL_ERUN if the run failed, PAWL_ECANCELLED if it was cancelled,
        PAWL_ETIMEOUT if it has not ended within timeout seconds.
        """
        run_id, out, slot = c_text(run), ffi.new("pawl_bytes *"), ffi.new("pawl_error **")
        with self._lock:
            check(lib.pawl_client_wait(self._use(), run_id, milliseconds(timeout), out, slot), slot, self._payloads)
            data = data_of(out[0])
        return self._payloads.load(data, kind)

    def wait_any(self, runs: Sequence[str], timeout: Seconds = 30.0) -> list[dict[str, Any]]:
        """Blocks until at least one of up to 1,000 runs has ended.

        Returns a row for each run that has ended: run_id, status, output, error. A run that does not
        exist has the status NOT_FOUND.
        """
        keep = [ffi.new("char[]", c_text(run)) for run in runs]
        rows, slot = ffi.new("pawl_rows **"), ffi.new("pawl_error **")
        with self._lock:
            status = lib.pawl_client_wait_any(
                self._use(), ffi.new("char *[]", keep or [NULL]), len(keep), milliseconds(timeout), rows, slot
            )
        check(status, slot)
        return [self._decoded(row) for row in read_rows(rows[0])]

    def _decoded(self, row: dict[str, Any]) -> dict[str, Any]:
        """Passes the payloads of a row through the codec."""
        if self._payloads.codec is not None:
            for name in ("input", "output"):
                if row.get(name) is not None:
                    row[name] = self._payloads.load(json.dumps(row[name]).encode())
            if row.get("error") is not None:
                row["error"] = self._payloads.load_error(row["error"])
        return row

    def run(self, run: str) -> dict[str, Any]:
        """One run: its state, input, output or error, and its steps (columns of get_run in docs/sql-api.md)."""
        return self._decoded(self.call("get_run", run=run)[0])

    def runs(self, workflow: str | None = None, status: str | None = None, **filters: Any) -> Iterator[dict[str, Any]]:
        """Lists runs, newest first, page by page (columns of list_runs). Filters: tenant, key, since, before."""
        arguments = {f"only_{name}" if name in ("tenant", "key") else name: value for name, value in filters.items()}
        cursor = None
        while True:
            page = self.call("list_runs", only_workflow=workflow, only_status=status, cursor=cursor, max_rows=500, **arguments)
            yield from (row for row in page if row["run_id"] is not None)
            cursor = page[-1]["next_cursor"] if page else None
            if cursor is None or (len(page) < 500 and page[-1]["run_id"] is not None):
                return

    def notes(self, run: str, after: int = 0) -> list[dict[str, Any]]:
        """Log lines and progress of a run, in order; after is the last note_no already seen.

        Tasks of a flow store at the same time: a line may get a lower note_no than one that you have
        seen, and after then leaves it out. For a flow, ask without after, or follow() each task.
        """
        rows = self.call("notes", run=run, after=after)
        for row in rows:
            if row["body"] is not None:
                row["body"] = self._payloads.load_text(row["body"])
        return rows

    def follow(self, run: str, after: int = 0, *, task: int = 0, timeout: Seconds | None = None) -> Iterator[Note]:
        """Yields the notes of a run as they are stored, in order, until the run has ended.

        These are log lines, progress, and what steps stream while they are executed
        (pawl.current().stream). A reader that stores the note_no of the last note that it has used
        continues there with after=note_no, in any process. A piece with begins set is the first of an
        execution of its step: the step was interrupted or failed, and what it streamed before is void.
        task is the number of a flow's task. Asks at most once a second while nothing comes. Raises
        PawlError with code PAWL_ETIMEOUT if no note comes for timeout seconds; None waits for ever.
        """
        reader = _Reader(self, run, after, task, timeout)
        while True:
            yield from reader.ask()
            if reader.ended:
                return
            time.sleep(reader.pause)

    async def follow_async(self, run: str, after: int = 0, *, task: int = 0, timeout: Seconds | None = None) -> AsyncIterator[Note]:
        """Does what follow() does, for ``async for``: calls are made in a thread, and never block the event loop."""
        import asyncio

        reader = _Reader(self, run, after, task, timeout)
        while True:
            for note in await asyncio.to_thread(reader.ask):
                yield note
            if reader.ended:
                return
            await asyncio.sleep(reader.pause)

    def why(self, run: str) -> str:
        """States in one line what a run is doing or waiting for, and what to do about it."""
        return str(self.call("why", run=run)[0]["why"])

    def call(self, verb: str, **arguments: Any) -> list[dict[str, Any]]:
        """Calls any verb of docs/sql-api.md by name. Returns its rows as dictionaries with Python's values."""
        names = [ffi.new("char[]", c_text(name)) for name in arguments]
        values = [NULL if value is None else ffi.new("char[]", c_text(_argument(value))) for value in arguments.values()]
        function, rows, slot = c_text(verb), ffi.new("pawl_rows **"), ffi.new("pawl_error **")
        with self._lock:
            status = lib.pawl_client_call(
                self._use(),
                function,
                ffi.new("char *[]", names or [NULL]),
                ffi.new("char *[]", values or [NULL]),
                len(names),
                rows,
                slot,
            )
        check(status, slot)
        return read_rows(rows[0])

    def advance(self, duration: Seconds) -> None:
        """For tests: moves the clock of a test database forward."""
        slot = ffi.new("pawl_error **")
        with self._lock:
            check(lib.pawl_test_advance(self._use(), milliseconds(duration), slot), slot)


_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _after_fork() -> None:
    """In a child process: a lock that another thread of the parent held at the fork would never be released here."""
    for client in list(_clients):
        client._lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


def engine_script(name: str = "pawl.sql") -> str:
    """The text of pawl.sql, or of clock.sql for tests, that this package carries."""
    path = os.path.join(os.path.dirname(__file__), "sql", name)
    if not os.path.exists(path):
        raise UsageError(f"this build of the package carries no {name}", "Install the engine with `pawl install`.")
    with open(path) as file:
        return file.read()


def install(database: str | None = None, *, test_clock: bool = False) -> None:
    """Installs the engine in a database, or upgrades it. The role becomes or must be the owner of schema pawl.

    With test_clock the database gets a clock that tests move; never do that where real work is done.
    """
    config, slot = make_config(database, {}), ffi.new("pawl_error **")
    check(lib.pawl_admin_script(config, engine_script().encode(), slot), slot)
    if test_clock:
        check(lib.pawl_admin_script(config, engine_script("clock.sql").encode(), slot), slot)
