# SPDX-License-Identifier: Apache-2.0
"""A web shop with FastAPI: an order and its workflow commit together, and the worker runs in the server's event loop.

uvicorn web_shop:web                the shop; PAWL_WORKER=0 leaves the worker out
pytest web_shop.py                  its test, in which three days pass at once
"""

import os
from collections.abc import AsyncIterator
from typing import Annotated

import psycopg
import pytest
from fastapi import Depends, FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel

import pawl
from pawl.testing import TestDatabase

app = pawl.App()
web = FastAPI(lifespan=app.lifespan())


class Order(BaseModel):
    id: int
    cents: int


async def charge(order: Order) -> str:
    return f"charge of {order.cents}, key {pawl.current().key[:8]}"


@app.workflow("web.order.v1")
async def handle_order(ctx: pawl.AsyncContext, order: Order) -> str:
    receipt = await ctx.step("charge", charge, order, retry=pawl.Retry(max_attempts=5))
    await ctx.sleep("before-reminder", 3 * 86400)
    await ctx.step("remind", print, f"order {order.id}: how was it?")
    return receipt


async def connect() -> AsyncIterator[psycopg.AsyncConnection]:
    async with await psycopg.AsyncConnection.connect(os.environ.get("PAWL_DATABASE_URL", "")) as connection:
        yield connection


Connection = Annotated[psycopg.AsyncConnection, Depends(connect, scope="function")]


@web.post("/orders")
async def post_order(order: Order, connection: Connection) -> dict[str, str]:
    await connection.execute("insert into orders values (%s)", [order.id])
    return {"run": await handle_order.trigger(connection, order, key=f"order:{order.id}")}


@pytest.fixture
def pawl_app() -> pawl.App:
    return app


def test_an_order_is_charged_and_followed_up(pawl_db: TestDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAWL_DATABASE_URL", pawl_db.database)
    monkeypatch.setenv("PAWL_WORKER", "0")
    pawl_db.client.call("create_workflow", name="web.order.v1")
    with psycopg.connect(pawl_db.database) as connection:
        connection.execute("create table orders (id int primary key)")
    with TestClient(web) as http:
        run = http.post("/orders", json={"id": 7, "cents": 4200}).json()["run"]
        pawl_db.work()
        assert pawl_db.status(run) == "PAUSED"
        pawl_db.advance(days=3)
        pawl_db.work()
        assert pawl_db.output(run).startswith("charge of 4200")
        with pytest.raises(psycopg.errors.UniqueViolation):
            http.post("/orders", json={"id": 7, "cents": 1})
    assert len(list(pawl_db.client.runs("web.order.v1"))) == 1
