# SPDX-License-Identifier: Apache-2.0
"""What mypy --strict must know about a program: this file is checked, never executed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, assert_type

import pawl


@dataclass
class Order:
    id: int
    cents: int


@dataclass
class Receipt:
    charge: str


app = pawl.App()


@app.undo("refund")
async def refund(ctx: pawl.UndoContext, amount: int, charge: str | None) -> None:
    assert_type(ctx.uncertain, bool)


async def charge_card(order: Order) -> str:
    return pawl.current().key


def weigh(order: Order, factor: float) -> float:
    return order.cents * factor


@app.workflow("typed.ship.v1")
def ship(ctx: pawl.Context, order: Order) -> Receipt:
    assert_type(ctx.step("weigh", weigh, order, 2.0), float)
    return Receipt(ctx.id)


@app.workflow("typed.order.v1")
async def order(ctx: pawl.AsyncContext, o: Order) -> Receipt:
    charge = await ctx.step("charge", charge_card, o, timeout=20, undo=refund.with_input(o.cents))
    assert_type(charge, str)
    assert_type(await ctx.step("weigh", weigh, o, 1.5, retry=pawl.Retry(max_attempts=3)), float)
    assert_type(await ctx.step("blocking", pawl.blocking(weigh), o, 1.5), float)
    receipt = await ctx.child("ship", ship, o)
    assert_type(receipt, Receipt)
    both = await asyncio.gather(ctx.step("a", charge_card, o), ctx.step("b", weigh, o, 1.0))
    assert_type(both, tuple[str, float])
    return receipt


@app.workflow("typed.tick.v1")
async def tick(ctx: pawl.AsyncContext) -> None:
    await ctx.sleep("nap", 1)


def produce(connection: object, client: pawl.Client) -> None:
    run = order.trigger(connection, Order(1, 2), key="order:1", delay=5)
    assert_type(run, pawl.RunId)
    assert_type(client.wait(run, kind=Receipt), Receipt)
    order.trigger(connection, "no order")  # type: ignore[call-overload]
    refund.with_input("no int")  # type: ignore[arg-type]


class Connection:
    async def fetchval(self, query: str, *args: Any) -> Any:
        return None


async def produce_async(connection: Connection) -> None:
    later = order.trigger(connection, Order(1, 2))
    assert_type(later, Awaitable[pawl.RunId])
    assert_type(await later, pawl.RunId)
