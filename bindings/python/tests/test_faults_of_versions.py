# SPDX-License-Identifier: Apache-2.0
"""Faults of mixed workers: two languages on one workflow, an engine of another version. With PAWL_FULL at their full size, for .ci/full."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from conftest import FULL, LIMIT, PATIENCE, Real, drained

import pawl

SHORT = """
import pawl
app = pawl.App()

@app.workflow("p.short")
async def short(ctx: pawl.AsyncContext, n: int) -> int:
    return await ctx.step("s", lambda: n)
"""


EITHER = """
import pawl
app = pawl.App()

@app.workflow("p.either")
def either(ctx: pawl.Context, n: int) -> list:
    first = ctx.step("first", lambda: "python")
    go = ctx.wait_signal("go")
    return [n, first, go, ctx.step("second", lambda: "python")]
"""


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The worker in C, compiled."""
    if shutil.which("gcc") is None or shutil.which("pkg-config") is None:
        pytest.skip("no compiler")
    root = pathlib.Path(__file__).resolve().parents[3]
    build = pathlib.Path(os.environ.get("PAWL_BUILD", root / "build"))
    program = tmp_path_factory.mktemp("c") / "either"
    libraries = subprocess.run(["pkg-config", "--cflags", "--libs", "libpq"], capture_output=True, text=True, check=True).stdout.split()
    archive = build / "src" / "libpawl" / "libpawl.a"
    checkers = ["-fsanitize=address,undefined"] if b"__asan_init" in archive.read_bytes() else []
    source = pathlib.Path(__file__).with_name("either.c")
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    command = ["gcc", f"-I{root / 'include'}", "-o", str(program), str(source), str(archive), *libraries, "-lpthread", *checkers]
    subprocess.run(command, env=environment, check=True)
    yield str(program)


def start_c(real: Real, program: str, *settings: str) -> subprocess.Popen[str]:
    words = [f"--{setting}" for setting in settings]
    process = subprocess.Popen([program, f"--database={real.url}", *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    real.processes.append(process)
    return drained(process)


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(60 * PATIENCE) == 0


def test_a_run_of_one_language_is_continued_by_the_other(real: Real, tmp_path: pathlib.Path, in_c: str) -> None:
    real.client.call("create_workflow", name="p.either")

    def waiting(runs: list[pawl.RunId]) -> bool:
        return all(real.client.run(run)["status"] == "PAUSED" for run in runs)

    languages = {"c": lambda: start_c(real, in_c), "python": lambda: real.start(EITHER, tmp_path)}
    for before, after in (("c", "python"), ("python", "c")):
        process = languages[before]()
        runs = real.client.trigger_many("p.either", [1, 2, 3])
        real.until(lambda: waiting(runs))  # noqa: B023
        stop(process)
        for run in runs:
            real.client.signal(run, "go", "on")
        process = languages[after]()
        assert [real.client.wait(run, LIMIT) for run in runs] == [[n, before, "on", after] for n in (1, 2, 3)]
        stop(process)


def test_workers_of_both_languages_execute_one_workflow_while_they_are_killed(real: Real, tmp_path: pathlib.Path, in_c: str) -> None:
    runs, kills = (3000, 40) if FULL else (200, 4)
    real.client.call("create_workflow", name="p.either")
    start = [lambda: start_c(real, in_c, "lease=1s"), lambda: real.start(EITHER, tmp_path, "--set", "lease=1s", "-c", "8")]
    workers = [one() for one in start]
    made = real.client.trigger_many("p.either", list(range(runs)))
    for kill in range(kills):
        share = made[kill * runs // kills : (kill + 1) * runs // kills]
        for run in share:
            real.client.signal(run, "go", kill)
        workers[kill % 2].kill()
        workers[kill % 2] = start[kill % 2]()
    found = [real.client.wait(run, LIMIT) for run in made]
    assert [row[0] for row in found] == list(range(runs))
    languages = {row[1] for row in found} | {row[3] for row in found}
    assert languages == {"c", "python"} if FULL else languages <= {"c", "python"}
    assert [row[2] for row in found] == [n * kills // runs for n in range(runs)]
    assert {tuple(step["name"] for step in real.client.run(run)["steps"]) for run in made} == {("first#1", "go#1", "second#1")}
    for worker in workers:
        stop(worker)


def test_the_runtime_of_a_workflow_decides_who_claims(real: Real, tmp_path: pathlib.Path, in_c: str) -> None:
    real.client.call("create_workflow", name="p.either", runtime="python")
    workers = [start_c(real, in_c), real.start(EITHER, tmp_path, "--set", "runtimes=python")]
    runs = real.client.trigger_many("p.either", list(range(20)))
    for run in runs:
        real.client.signal(run, "go", 0)
    assert [real.client.wait(run, LIMIT) for run in runs] == [[n, "python", 0, "python"] for n in range(20)]
    for worker in workers:
        stop(worker)


OTHER_ENGINES = {
    "newer": ("update pawl_data.setting set protocol_min = 7, protocol_max = 9", "worker speaks protocol 1, this schema 7 to 9"),
    "older": ("update pawl_data.setting set protocol_min = 0, protocol_max = 0", "worker speaks protocol 1, this schema 0 to 0"),
    "none": ("drop schema pawl cascade", "Install the engine with python -m pawl install"),
}


@pytest.mark.parametrize("engine", list(OTHER_ENGINES))
def test_a_worker_refuses_another_engine_at_its_start_with_words(real: Real, tmp_path: pathlib.Path, engine: str) -> None:
    change, words = OTHER_ENGINES[engine]
    with psycopg.connect(real.url, autocommit=True) as connection:
        connection.execute(change)
    (tmp_path / "shop.py").write_text(SHORT)
    command = [sys.executable, "-m", "pawl", "worker", "shop:app", "-d", real.url]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60 * PATIENCE, check=False)
    assert ended.returncode != 0
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_newer_engine_that_still_speaks_the_protocol_works(real: Real, tmp_path: pathlib.Path) -> None:
    with psycopg.connect(real.url, autocommit=True) as connection:
        connection.execute("update pawl_data.setting set protocol_max = 9, schema_version = schema_version + 1")
    real.start(SHORT, tmp_path)
    assert real.client.wait(real.client.trigger("p.short", 5), LIMIT) == 5
