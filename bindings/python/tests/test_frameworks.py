# SPDX-License-Identifier: Apache-2.0
"""Web frameworks as programs use them: a trigger in the transaction of a request. FastAPI is examples/web_shop.py."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

import flask
import psycopg
import pytest
from conftest import FULL, PATIENCE, Real

import pawl
from pawl.testing import TestDatabase

app = pawl.App()


@app.workflow("f.order")
def order(ctx: pawl.Context, n: int) -> int:
    return n + 1


@pytest.fixture
def pawl_app() -> pawl.App:
    return app


def test_flask_triggers_in_the_transaction_of_a_request(pawl_db: TestDatabase) -> None:
    web = flask.Flask("shop")

    @web.post("/orders/<int:n>")
    def post(n: int) -> dict[str, str]:
        with psycopg.connect(pawl_db.database) as connection:
            run = order.trigger(connection, n, key=f"order:{n}")
            if n == 13:
                raise ValueError("unlucky")
        return {"run": run}

    pawl_db.client.call("create_workflow", name="f.order")
    http = web.test_client()
    run = http.post("/orders/7").json["run"]
    assert http.post("/orders/13").status_code == 500
    pawl_db.work()
    assert pawl_db.output(run) == 8
    assert [row["key"] for row in pawl_db.client.runs("f.order")] == ["order:7"]


def test_django_triggers_inside_atomic(pawl_db: TestDatabase) -> None:
    import django
    from django.conf import settings

    name = psycopg.conninfo.conninfo_to_dict(pawl_db.database)["dbname"]
    database = {"ENGINE": "django.db.backends.postgresql", "NAME": name, "USER": os.environ.get("PGUSER", "")}
    database |= {"HOST": os.environ["PGHOST"], "PORT": os.environ.get("PGPORT", "")}
    settings.configure(DATABASES={"default": database}, USE_TZ=True)
    django.setup()
    from django.db import connection, transaction

    pawl_db.client.call("create_workflow", name="f.order")
    with transaction.atomic():
        run = order.trigger(connection, 7)
    with pytest.raises(ValueError, match="unlucky"), transaction.atomic():
        order.trigger(connection, 13)
        raise ValueError("unlucky")

    done = pawl.App()

    @done.workflow("f.order")
    def book(ctx: pawl.Context, n: int) -> int:
        with connection.cursor() as cursor:
            cursor.execute("create table if not exists booked (n int)")

        def work(found: object) -> int:
            with connection.cursor() as cursor:
                cursor.execute("insert into booked values (%s)", [n])
            return n

        return ctx.transaction("book", connection, work)

    pawl_db.restart_worker(done)
    pawl_db.work()
    assert pawl_db.output(run) == 7
    connection.close()
    assert len(list(pawl_db.client.runs("f.order"))) == 1


def test_a_lifespan_executes_runs_in_the_servers_loop(real: Real) -> None:
    loop_app = pawl.App()

    @loop_app.workflow("f.loop")
    async def loop(ctx: pawl.AsyncContext) -> str:
        return await ctx.step("s", lambda: "in the loop")

    async def main() -> str:
        async with loop_app.lifespan(real.url)(None):
            run = await asyncio.to_thread(real.client.trigger, "f.loop")
            return str(await asyncio.to_thread(real.client.wait, run, 60 * PATIENCE))

    real.client.call("create_workflow", name="f.loop")
    assert asyncio.run(main()) == "in the loop"
    assert [row["ended_why"] for row in real.client.call("list_workers", ended=True)] == ["left"]


SERVED = """
import os, flask, fastapi, pawl
app = pawl.App()
client = pawl.Client({url!r})

@app.workflow("f.served")
async def served(ctx: pawl.AsyncContext, n: int) -> int:
    return n + 1

web = flask.Flask("shop")

@web.get("/<int:n>")
def get(n: int):
    return {{"pid": os.getpid(), "n": client.wait(served.trigger(client, n), 60)}}

api = fastapi.FastAPI(lifespan=app.lifespan({url!r}))

@api.get("/{{n}}")
def get_api(n: int):
    return {{"pid": os.getpid(), "n": client.wait(served.trigger(client, n), 60)}}
"""


PROCESSES = "4" if FULL else "2"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=60 * PATIENCE)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60 * PATIENCE)
        self.sock.connect(self.path)


@pytest.mark.parametrize(
    "command",
    [
        ["gunicorn", "--preload", "--workers", PROCESSES, "--bind", "unix:{socket}", "shop:web"],
        ["uvicorn", "--workers", PROCESSES, "--uds", "{socket}", "shop:api"],
    ],
    ids=["gunicorn", "uvicorn"],
)
def test_servers_with_many_processes(real: Real, tmp_path: pathlib.Path, command: list[str]) -> None:
    """The client that gunicorn opens before it forks works in its children; uvicorn's processes have a worker each."""
    place = str(tmp_path / "socket")
    real.client.call("create_workflow", name="f.served")
    (tmp_path / "shop.py").write_text(SERVED.format(url=real.url))
    arguments = [word.format(socket=place) for word in command]
    server = subprocess.Popen([sys.executable, "-m", *arguments], cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        if command[0] == "gunicorn":
            real.start(SERVED.format(url=real.url), tmp_path)

        def ask() -> dict[str, int] | None:
            connection = UnixConnection(place)
            try:
                connection.request("GET", "/41")
                found: dict[str, int] = json.loads(connection.getresponse().read())
                return found
            except OSError:
                return None
            finally:
                connection.close()

        assert real.until(ask, 60)["n"] == 42
        assert {answer["n"] for answer in [ask() for _ in range(100 if FULL else 6)] if answer} == {42}
        server.terminate()
        assert server.wait(60 * PATIENCE) in (0, -15)
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
