# SPDX-License-Identifier: Apache-2.0
"""Workers in processes of their own, with the real clock: kills, signals, reloads. test_faults_of_processes.py has worse."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys

from conftest import PATIENCE, Real, in_time

from pawl.testing import TestDatabase

ORDER = """
import asyncio, os, pathlib, pawl
app = pawl.App(version="7")
log = pathlib.Path("log")

def note(text):
    with log.open("a") as file: file.write(text + "\\n")

@app.undo("refund")
async def refund(ctx, amount, output): note("refund")

@app.workflow("p.order")
async def order(ctx: pawl.AsyncContext) -> str:
    await ctx.step("charge", note, "charge", undo=refund.with_input(1))
    await ctx.step("pack", pack)
    await ctx.step("ship", note, "ship")
    return "shipped"

async def pack():
    note("pack")
    try: await asyncio.sleep(float(pathlib.Path("seconds").read_text()))
    except asyncio.CancelledError:
        note("interrupted")
        raise
"""


def lines(tmp_path: pathlib.Path) -> list[str]:
    path = tmp_path / "log"
    return path.read_text().split() if path.exists() else []


def test_a_killed_worker_repeats_no_recorded_step(real: Real, tmp_path: pathlib.Path) -> None:
    (tmp_path / "seconds").write_text("600")
    first = real.start(ORDER, tmp_path, "--set", "lease=5s")
    run = real.client.trigger("p.order")
    real.until(lambda: "pack" in lines(tmp_path))
    first.kill()
    (tmp_path / "seconds").write_text("0")
    real.start(ORDER, tmp_path, "--set", "lease=5s")
    assert real.client.wait(run, 60 * PATIENCE) == "shipped"
    assert lines(tmp_path) == ["charge", "pack", "pack", "ship"]
    workers = real.client.call("list_workers")
    assert {(row["version"], row["client"].split("/")[0]) for row in workers} == {("7", "pawl-python")}


def test_sigterm_lets_a_step_end_and_leaves(real: Real, tmp_path: pathlib.Path) -> None:
    (tmp_path / "seconds").write_text("1")
    process = real.start(ORDER, tmp_path)
    run = real.client.trigger("p.order")
    real.until(lambda: "pack" in lines(tmp_path))
    process.send_signal(signal.SIGTERM)
    assert process.wait(60 * PATIENCE) == 0
    assert real.client.wait(run, 0) == "shipped"
    assert [row["ended_why"] for row in real.client.call("list_workers", ended=True)] == ["left"]


def test_sigterm_releases_runs_when_the_time_has_passed(real: Real, tmp_path: pathlib.Path) -> None:
    (tmp_path / "seconds").write_text("600")
    process = real.start(ORDER, tmp_path, "--set", "drain_timeout=1s")
    run = real.client.trigger("p.order")
    real.until(lambda: "pack" in lines(tmp_path))
    process.send_signal(signal.SIGTERM)
    assert process.wait(60 * PATIENCE) == 0
    assert lines(tmp_path)[-1] == "interrupted"
    real.until(lambda: real.client.run(run)["status"] == "QUEUED")


def test_a_source_that_changes_restarts_the_worker(real: Real, tmp_path: pathlib.Path) -> None:
    (tmp_path / "seconds").write_text("0")
    process = real.start(ORDER.replace('"shipped"', '"old"'), tmp_path, "--reload")
    assert real.client.wait(real.client.trigger("p.order"), 60 * PATIENCE) == "old"
    (tmp_path / "shop.py").write_text(ORDER.replace('"shipped"', '"new"'))
    real.until(lambda: real.client.wait(real.client.trigger("p.order"), 60 * PATIENCE) == "new")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60 * PATIENCE) == 0


def test_import_is_quick() -> None:
    def best(module: str) -> float:
        code = f"import time; a = time.perf_counter(); import {module}; print(time.perf_counter() - a)"
        return min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(5))

    ours, theirs = best("pawl"), best("asyncio")
    in_time("import pawl", ours, max(0.025, 1.5 * theirs))


def test_the_database_of_a_test_has_its_own_clock(pawl_server: object) -> None:
    assert TestDatabase.__test__ is False
