# SPDX-License-Identifier: Apache-2.0
"""DBOS executes three-step workflows from a queue until RUNS have ended: dbos_worker.py async|threads RUNS URL [fill].

Prints workflows per second and microseconds of CPU per workflow, of this process; imports are not counted. With "fill" it only enqueues them.
64 at the same time; the queue is read every 20 ms, where the default is a second.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time

import psycopg
from dbos import DBOS

PAYLOAD = {"pad": "x" * 228}  # 240 bytes of JSON
mode, runs, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]


@DBOS.step()
def plain_step(n: int) -> object:
    return PAYLOAD


@DBOS.workflow()
def plain_run(given: object) -> object:
    for n in range(3):
        plain_step(n)
    return PAYLOAD


@DBOS.step()
async def async_step(n: int) -> object:
    return PAYLOAD


@DBOS.workflow()
async def async_run(given: object) -> object:
    for n in range(3):
        await async_step(n)
    return PAYLOAD


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def enqueue(count: int) -> None:
    for _ in range(count):
        DBOS.enqueue_workflow("bench", async_run if mode == "async" else plain_run, PAYLOAD)


def fill() -> None:
    DBOS.listen_queues([])
    DBOS.launch()
    DBOS.register_queue("bench", worker_concurrency=64, polling_interval_sec=0.02)
    threads = [threading.Thread(target=enqueue, args=(runs // 4,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def drain() -> None:
    began, used = time.monotonic(), cpu()
    DBOS.launch()
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute("select count(*) from dbos.workflow_status where status = 'SUCCESS'").fetchone() != (runs,):
            time.sleep(0.02)
    took = time.monotonic() - began
    print(runs / took, (cpu() - used) / runs * 1e6, flush=True)


DBOS(config={"name": "bench", "system_database_url": url, "log_level": "ERROR", "application_version": "1"})
if sys.argv[4:] == ["fill"]:
    fill()
else:
    drain()
os._exit(0)  # its own end would wait for threads
