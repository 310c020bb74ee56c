# SPDX-License-Identifier: Apache-2.0
"""Absurd executes tasks of three steps until RUNS have ended: absurd_worker.py async|threads RUNS URL [fill].

Prints tasks per second and microseconds of CPU per task, of this process; imports are not counted. With "fill" it only spawns them. 64 at the
same time; the queue is read every 20 ms if it is empty. Its worker has one connection.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import threading
import time

import psycopg
from absurd_sdk import Absurd, AsyncAbsurd

PAYLOAD = {"pad": "x" * 228}  # 240 bytes of JSON
mode, runs, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def fill() -> None:
    app = Absurd(url, queue_name="bench")
    app.create_queue()
    for _ in range(runs):
        app.spawn("run", PAYLOAD, queue="bench")


async def serve() -> None:
    app = AsyncAbsurd(url, queue_name="bench")

    async def step() -> object:
        return PAYLOAD

    @app.register_task("run")
    async def run(params: object, ctx: object) -> object:
        for name in ("step1", "step2", "step3"):
            await ctx.step(name, step)
        return PAYLOAD

    await app.start_worker(concurrency=64, poll_interval=0.02)


def work() -> None:
    app = Absurd(url, queue_name="bench")

    @app.register_task("run")
    def run(params: object, ctx: object) -> object:
        for name in ("step1", "step2", "step3"):
            ctx.step(name, lambda: PAYLOAD)
        return PAYLOAD

    app.start_worker(concurrency=64, poll_interval=0.02)


def drain() -> None:
    began, used = time.monotonic(), cpu()
    threading.Thread(target=work if mode == "threads" else lambda: asyncio.run(serve()), daemon=True).start()
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute("select count(*) from absurd.t_bench where state = 'completed'").fetchone() != (runs,):
            time.sleep(0.02)
    took = time.monotonic() - began
    print(runs / took, (cpu() - used) / runs * 1e6, flush=True)


if sys.argv[4:] == ["fill"]:
    fill()
else:
    drain()
os._exit(0)
