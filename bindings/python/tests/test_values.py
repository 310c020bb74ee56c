# SPDX-License-Identifier: Apache-2.0
"""Typed inputs and results, codecs, and steps in the program's own transaction."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import datetime
import enum
import functools
import json
import logging
import os
import pathlib
import subprocess
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import asyncpg
import msgspec
import psycopg
import pydantic
import pytest
import sqlalchemy
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import sessionmaker

import pawl
from pawl.testing import TestDatabase, TestServer, _named


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Part:
    sku: str
    price: Decimal
    color: Color | None = None


@dataclasses.dataclass
class Order:
    id: uuid.UUID
    at: datetime.datetime
    parts: list[Part]
    tags: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)


class Model(pydantic.BaseModel):
    n: int
    at: datetime.datetime


class Struct(msgspec.Struct):
    n: int
    names: list[str]


ORDER = Order(
    uuid.UUID(int=7),
    datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC),
    [Part("a", Decimal("1.10"), Color.RED)],
    {"x": (1, 2)},
)
MODEL = Model(n=1, at=datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC))
app = pawl.App()


def same_order(order: Order) -> Order:
    return order


async def models(model: Model) -> list[Model]:
    return [model]


@app.workflow("v.dataclass")
async def with_dataclass(ctx: pawl.AsyncContext, order: Order) -> Order:
    assert order == ORDER
    assert await ctx.step("same", same_order, order) == ORDER
    return order


@app.workflow("v.model")
async def with_model(ctx: pawl.AsyncContext, model: Model) -> Model:
    assert await ctx.step("models", models, model) == [MODEL]
    assert await ctx.child("kid", with_dataclass, ORDER) == ORDER
    return model


@app.workflow("v.struct")
def with_struct(ctx: pawl.Context, struct: Struct) -> Struct:
    assert ctx.step("kind", lambda: {"n": 3, "names": []}, kind=Struct) == Struct(3, [])
    return struct


@pytest.fixture
def pawl_app() -> pawl.App:
    return app


def test_inputs_results_and_outputs_have_the_types_of_their_annotations(pawl_db: TestDatabase) -> None:
    for name in app.workflows:
        pawl_db.client.call("create_workflow", name=name, max_attempts=1)
    runs = [
        with_dataclass.trigger(pawl_db, ORDER),
        with_model.trigger(pawl_db, MODEL),
        with_struct.trigger(pawl_db, Struct(1, ["a"])),
    ]
    pawl_db.work()
    assert [pawl_db.error(run).message for run in runs] == ["", "", ""]
    assert pawl_db.output(runs[0], Order) == ORDER
    assert pawl_db.output(runs[1], Model) == MODEL
    assert pawl_db.output(runs[2], Struct) == Struct(1, ["a"])


def test_an_input_that_does_not_fit_fails_the_run_with_words(pawl_db: TestDatabase) -> None:
    pawl_db.client.call("create_workflow", name="v.model", max_attempts=1)
    run = pawl_db.client.trigger("v.model", {"n": "many"})
    pawl_db.work()
    assert pawl_db.error(run).code == "ValidationError"
    assert "valid integer" in pawl_db.error(run).message


def test_a_value_that_is_not_json_is_refused_with_words() -> None:
    with pytest.raises(TypeError, match="cannot be stored as JSON"):
        pawl.trigger(object.__new__(pawl.Client), "x", {"a": object()})


class Sealed:
    """AES-GCM; the id of the key travels with the payload, so that keys can change while runs wait."""

    def __init__(self) -> None:
        self.keys = {name: AESGCM(AESGCM.generate_key(128)) for name in ("k1", "k2")}
        self.current = "k1"

    def encode(self, data: bytes) -> bytes:
        nonce = os.urandom(12)
        sealed = base64.b64encode(nonce + self.keys[self.current].encrypt(nonce, data, None)).decode()
        return json.dumps([self.current, sealed]).encode()

    def decode(self, data: bytes) -> bytes:
        key, sealed = json.loads(data)
        raw = base64.b64decode(sealed)
        return self.keys[key].decrypt(raw[:12], raw[12:], None)


def test_with_a_codec_no_payload_can_be_read_in_a_dump_or_in_the_wal(pawl_server: TestServer) -> None:
    # The texts are of this test alone, because the WAL has the records of all tests.
    codec, token = Sealed(), uuid.uuid4().hex
    sealed = pawl.App(codec=codec)
    planted = [f"planted-{i:02}-{token}" for i in range(21)]
    tries: list[int] = []

    @sealed.undo("u")
    async def u(ctx: pawl.UndoContext, argument: str, output: str) -> None:
        assert (argument, output) == (planted[2], planted[1])
        ctx.log("%s", planted[12])

    @sealed.workflow("v.kid")
    def kid(ctx: pawl.Context, text: str) -> str:
        return text + planted[13]

    def flaky() -> str:
        tries.append(1)
        pawl.current().stream(planted[20] * 100)  # several pieces, each encoded on its own
        if len(tries) == 1:
            raise pawl.RetryAfter(1, planted[14])
        return planted[15]

    @sealed.workflow("v.sealed")
    async def secret(ctx: pawl.AsyncContext, text: str) -> str:
        assert text == planted[0]
        assert await ctx.step("s", lambda: planted[1], undo=u.with_input(planted[2])) == planted[1]
        assert await ctx.step("flaky", flaky) == planted[15]
        ctx.log("%s", planted[3])
        ctx.progress("p", planted[4])
        logging.getLogger("v").warning("%s", planted[16])
        assert await ctx.wait_event("e", "topic") == planted[5]
        assert await ctx.wait_signal("g") == planted[6]
        assert await ctx.child("kid", kid, planted[7]) == planted[7] + planted[13]
        await ctx.start_child("other", kid, planted[17])
        decision = await ctx.wait_approval("boss", {"form": planted[8]})
        assert decision["payload"] == planted[9]
        try:
            await ctx.wait_approval("chief")
        except pawl.Rejected as exc:
            assert exc.decision["payload"] == planted[18]
        assert await ctx.gather(ctx.branch("b").step("s", lambda: planted[19])) == [planted[19]]
        try:
            await ctx.step("fails", lambda: {}[planted[10]], retry=pawl.Retry(max_attempts=1))
        except pawl.StepFailed as exc:
            assert planted[10] in exc.message
            assert exc.recorded_code == "KeyError"
        raise pawl.Permanent(planted[11], code="end")

    name = pawl_server.copy()
    db = TestDatabase(sealed, _named(None, name))
    try:
        run = secret.trigger(db, planted[0], metadata={"seen": f"visible-{token}"})
        db.work()
        codec.current = "k2"
        db.advance(10)
        db.work()
        db.client.emit("topic", planted[5])
        db.client.signal(run, "g", planted[6])
        db.work()
        db.client.approve(run, "boss", payload=planted[9])
        db.work()
        db.client.reject(run, "chief", payload=planted[18])
        db.work()
        assert (db.error(run).code, db.error(run).message) == ("end", planted[11])
        assert {note["body"] for note in db.client.notes(run)} >= {planted[3], planted[4], planted[16]}
        pieces = [note for note in db.client.follow(run) if note.kind == "stream"]
        assert sum(piece.begins for piece in pieces) == 2
        assert "".join(piece.body for piece in pieces) == planted[20] * 200
        with pytest.raises(pawl.PawlError, match=planted[11]):
            db.client.wait(run, 0)
        # Metadata are not encoded, so the search is known to find what is there.
        places = {}
        dump = os.environ.get("PAWL_PG_BIN", "/usr/bin") + "/pg_dump"
        if os.path.exists(dump):
            # The checkers of a sanitized libpawl are not for pg_dump, which stops in them.
            others = {variable: value for variable, value in os.environ.items() if variable != "LD_PRELOAD"}
            places["dump"] = subprocess.run([dump, name], check=True, capture_output=True, env=others).stdout
        if "PAWL_PG_DATA" in os.environ:
            segments = sorted(pathlib.Path(os.environ["PAWL_PG_DATA"], "pg_wal").glob("0*"))
            places["WAL"] = b"".join(segment.read_bytes() for segment in segments)
        for place, data in places.items():
            assert f"visible-{token}".encode() in data, place
            assert [text for text in planted if text.encode() in data] == [], place
        if "PAWL_PG_LOG" in os.environ:
            assert token.encode() not in pathlib.Path(os.environ["PAWL_PG_LOG"]).read_bytes().replace(f"visible-{token}".encode(), b"")
    finally:
        db.close()
        pawl_server.drop(name)


# --- producers and transactions


@pytest.fixture
def url(pawl_db: TestDatabase) -> str:
    with psycopg.connect(pawl_db.database, autocommit=True) as connection:
        connection.execute("create table ledger (n int)")
    return pawl_db.database


def alchemy(url: str, driver: str) -> str:
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    return f"postgresql+{driver}://{os.environ.get('PGUSER', '')}@/{name}?host={os.environ['PGHOST']}&port={os.environ.get('PGPORT', 5432)}"


def count(pawl_db: TestDatabase) -> int:
    return len(list(pawl_db.client.runs(workflow="v.dataclass")))


def test_a_trigger_commits_or_rolls_back_with_the_callers_transaction(pawl_db: TestDatabase, url: str) -> None:
    pawl_db.client.call("create_workflow", name="v.dataclass")
    with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
        run = with_dataclass.trigger(connection, ORDER, key="k", delay=5, metadata={"a": 1}, priority=3)
        assert run.created
        assert not with_dataclass.trigger(connection, ORDER, key="k").created
        assert len(pawl.trigger_many(connection, "v.dataclass", [1, {"a": 'q"\\'}], keys=["x", None])) == 2
        connection.rollback()
        assert count(pawl_db) == 0
        with_dataclass.trigger(connection, ORDER)
    assert count(pawl_db) == 1
    engine = sqlalchemy.create_engine(alchemy(url, "psycopg"))
    with engine.begin() as connection:
        with_dataclass.trigger(connection, ORDER)
    with sessionmaker(engine)() as session:
        with_dataclass.trigger(session, ORDER)
        session.rollback()
        pawl.emit(session, "topic", {"a": 1}, key="k")
        session.commit()
    engine.dispose()
    assert count(pawl_db) == 2
    assert [event["topic"] for event in pawl_db.client.call("list_events")] == ["topic"]


def test_runs_of_one_key_replace_each_other_on_every_connection(pawl_db: TestDatabase, url: str) -> None:
    client = pawl_db.client
    client.call("create_workflow", name="v.dataclass")
    with psycopg.connect(url, autocommit=True) as connection:
        for number, by in enumerate((connection, client)):
            key = f"k{number}"
            first = pawl.trigger(by, "v.dataclass", {"n": 1}, key=key, debounce=60, debounce_max=600, expires=3600)
            again = pawl.trigger(by, "v.dataclass", {"n": 2}, key=key, debounce=datetime.timedelta(minutes=1), debounce_max=600)
            last = pawl.trigger(by, "v.dataclass", {"n": 3}, key=key, replace=True)
            assert (first.created, again.created, last.created) == (True, False, False)
            assert first == again == last
            assert client.run(first)["input"] == {"n": 3}
        with pytest.raises(psycopg.ProgrammingError, match="need a key"):
            pawl.trigger(connection, "v.dataclass", replace=True)
    with pytest.raises(pawl.PawlError, match="need a key"):
        client.trigger("v.dataclass", debounce=1)
    with pytest.raises(pawl.PawlError, match=r"expires_ms.* at least 1"):
        client.trigger("v.dataclass", expires=0)


def test_many_runs_have_the_same_options_on_every_connection(pawl_db: TestDatabase, url: str) -> None:
    client = pawl_db.client
    client.call("create_workflow", name="v.dataclass")
    single: list[dict[str, Any]] = [{"key": "a"}, {"id": str(uuid.uuid4())}, {"replace": True}, {"debounce": 1}, {"debounce_max": 1}]
    with psycopg.connect(url, autocommit=True) as connection:
        made = [
            *pawl.trigger_many(connection, "v.dataclass", [1, 2], limit_key="shared", expires=3600),
            *pawl.trigger_many(client, "v.dataclass", [1, 2], limit_key="shared", expires=3600),
            *client.trigger_many("v.dataclass", [1, 2], limit_key="shared", expires=3600),
        ]
        for call in (functools.partial(pawl.trigger_many, connection), functools.partial(pawl.trigger_many, client), client.trigger_many):
            for options in single:
                with pytest.raises(pawl.UsageError, match="option of a single run"):
                    call("v.dataclass", [1, 2], **options)
        assert pawl.trigger_many(connection, "v.dataclass", [], limit_key="shared") == []
        rows = connection.execute("select count(*) from pawl_data.task where limit_key = 'shared'").fetchall()
    assert rows == [(6,)]
    assert len(set(made)) == count(pawl_db) == 6


def test_a_trigger_is_awaited_on_asynchronous_connections(pawl_db: TestDatabase, url: str) -> None:
    pawl_db.client.call("create_workflow", name="v.dataclass")

    async def main() -> None:
        async with await psycopg.AsyncConnection.connect(url) as connection:
            await with_dataclass.trigger(connection, ORDER)
        plain = await asyncpg.connect(host=os.environ["PGHOST"], database=psycopg.conninfo.conninfo_to_dict(url)["dbname"])
        transaction = plain.transaction()
        await transaction.start()
        run = await with_dataclass.trigger(plain, ORDER, key="k", delay=datetime.timedelta(seconds=1))
        assert run.created and len(run) == 36
        await transaction.rollback()
        run = await with_dataclass.trigger(plain, ORDER)
        assert await pawl.signal(plain, run, "go", 1) == "stored"
        assert await pawl.cancel(plain, run, "why") == "ok"
        await plain.close()
        engine = create_async_engine(alchemy(url, "asyncpg"))
        async with engine.begin() as connection:
            await with_dataclass.trigger(connection, ORDER)
        async with async_sessionmaker(engine)() as session:
            await with_dataclass.trigger(session, ORDER)
            await session.commit()
        await engine.dispose()

    asyncio.run(main())
    assert count(pawl_db) == 4


@pytest.fixture
def transactional(pawl_server: TestServer) -> Iterator[tuple[pawl.App, TestDatabase]]:
    application = pawl.App()
    name = pawl_server.copy()
    db = TestDatabase(application, _named(None, name))
    with psycopg.connect(db.database, autocommit=True) as connection:
        connection.execute("create table ledger (n int primary key)")
    yield application, db
    db.close()
    pawl_server.drop(name)


def ledger(db: TestDatabase) -> list[int]:
    with psycopg.connect(db.database) as connection:
        return [row[0] for row in connection.execute("select n from ledger order by n")]


INSERT = "insert into ledger values (1)"


def test_transactional_steps_of_threads(transactional: tuple[pawl.App, TestDatabase]) -> None:
    application, db = transactional
    engine = sqlalchemy.create_engine(alchemy(db.database, "psycopg"))
    pool = ConnectionPool(db.database, open=True, min_size=1)
    text = sqlalchemy.text

    @application.workflow("x.threads")
    def threads(ctx: pawl.Context) -> list[Any]:
        with psycopg.connect(db.database, autocommit=True) as connection:
            one = ctx.transaction("a", connection, lambda c: c.execute("insert into ledger values (1)").rowcount)
        two = ctx.transaction("b", pool, lambda c, n: c.execute("insert into ledger values (%s)", [n]).rowcount, 2)
        three = ctx.transaction("c", engine, lambda c: c.execute(text("insert into ledger values (3)")).rowcount)
        four = ctx.transaction("d", sessionmaker(engine), lambda s: s.execute(text("insert into ledger values (4)")).rowcount)
        try:
            ctx.transaction("e", pool, lambda c: c.execute("insert into ledger values (1)"), retry=pawl.Retry(max_attempts=1))
        except pawl.StepFailed as exc:
            return [one, two, three, four, exc.recorded_code]
        return []

    db.client.call("create_workflow", name="x.threads", max_attempts=1)
    run = threads.trigger(db)
    db.work()
    pool.close()
    engine.dispose()
    assert db.output(run) == [1, 1, 1, 1, "UniqueViolation"]
    assert ledger(db) == [1, 2, 3, 4]


def test_transactional_steps_of_the_loop(transactional: tuple[pawl.App, TestDatabase]) -> None:
    application, db = transactional
    dbname = psycopg.conninfo.conninfo_to_dict(db.database)["dbname"]

    async def psycopg_work(connection: Any, n: int) -> int:
        await connection.execute("insert into ledger values (%s)", [n])
        return n

    async def asyncpg_work(connection: Any, n: int) -> int:
        await connection.execute("insert into ledger values ($1)", n)
        return n

    async def alchemy_work(connection: Any, n: int) -> int:
        await connection.execute(sqlalchemy.text(f"insert into ledger values ({n})"))
        return n

    @application.workflow("x.loop")
    async def loop(ctx: pawl.AsyncContext) -> list[Any]:
        done = []
        async with await psycopg.AsyncConnection.connect(db.database) as connection:
            done.append(await ctx.transaction("a", connection, psycopg_work, 1))
        async with AsyncConnectionPool(db.database, open=False, min_size=1) as pool:
            done.append(await ctx.transaction("b", pool, psycopg_work, 2))
        async with asyncpg.create_pool(host=os.environ["PGHOST"], database=dbname, min_size=1) as pool:
            done.append(await ctx.transaction("c", pool, asyncpg_work, 3))
            async with pool.acquire() as connection, connection.transaction():
                try:
                    await ctx.transaction("busy", connection, asyncpg_work, 9)
                except pawl.StepFailed as exc:
                    done.append(exc.message)
        engine = create_async_engine(alchemy(db.database, "asyncpg"))
        done.append(await ctx.transaction("d", engine, alchemy_work, 4))
        done.append(await ctx.transaction("e", async_sessionmaker(engine), alchemy_work, 5))
        await engine.dispose()
        return done

    db.client.call("create_workflow", name="x.loop", max_attempts=1)
    run = loop.trigger(db)
    db.work()
    assert db.error(run).message == ""
    found = db.output(run)
    assert "in a transaction already" in found.pop(3)
    assert found == [1, 2, 3, 4, 5]
    assert ledger(db) == [1, 2, 3, 4, 5]
