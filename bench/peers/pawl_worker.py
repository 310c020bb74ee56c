# SPDX-License-Identifier: Apache-2.0
"""A worker of pawl for Python that executes three-step runs of bench.run until RUNS have ended.

    pawl_worker.py async|threads CONCURRENCY RUNS [--memory STEP]

Prints runs per second and microseconds of CPU per run, of this process; imports are not counted. With --memory it prints
"FINISHED KILOBYTES", its resident memory, every STEP runs.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import threading
import time

import pawl

PAYLOAD = {"pad": "x" * 228}  # 240 bytes of JSON
app = pawl.App()


def plain_step() -> dict[str, str]:
    return PAYLOAD


async def async_step() -> dict[str, str]:
    return PAYLOAD


async def async_run(ctx: pawl.AsyncContext, given: object) -> object:
    for name in ("step1", "step2", "step3"):
        await ctx.step(name, async_step)
    return PAYLOAD


def plain_run(ctx: pawl.Context, given: object) -> object:
    for name in ("step1", "step2", "step3"):
        ctx.step(name, plain_step)
    return PAYLOAD


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def main() -> None:
    mode, concurrency, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    step = int(sys.argv[5]) if sys.argv[4:5] == ["--memory"] else 0
    app.workflow("bench.run")(async_run if mode == "async" else plain_run)
    began, used = time.monotonic(), cpu()
    worker = app.worker(concurrency=concurrency)
    worker.start()

    def watch() -> None:
        shown = 0
        while (finished := worker.counter("finished")) < runs:
            if step and finished - shown >= step:
                shown = finished - finished % step
                print(shown, resident(), flush=True)
            time.sleep(0.01)
        worker.drain()

    watcher = threading.Thread(target=watch)
    watcher.start()
    if mode == "async":
        asyncio.run(worker.serve())
    else:
        worker.run(signals=False)
    watcher.join()
    took = time.monotonic() - began
    if step:
        print(runs, resident(), flush=True)
    else:
        print(runs / took, (cpu() - used) / runs * 1e6)


main()
