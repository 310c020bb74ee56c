# SPDX-License-Identifier: Apache-2.0
"""The rounds of bench/peers/run, which starts it with a server and in the environment of the Python binding's tests."""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["PAWL_BUILD"])
PEERS = pathlib.Path(os.environ["PAWL_PEERS"])
PAYLOAD = json.dumps({"pad": "x" * 228}, separators=(",", ":"))
TEMPLATE = "bench_pawl_template"  # which bench/runtime makes
FILL = "select count(*) from pawl.trigger_many('bench.run', array_fill($${}$$::json, array[{}]))"

failed = 0


def say(name: str, value: float, unit: str, at_least: float | None = None, at_most: float | None = None, **more: object) -> None:
    """Prints a figure as the benchmarks in C do."""
    global failed
    figure: dict[str, object] = {"name": name, "value": round(value, 3), "unit": unit, **more}
    if at_least is not None or at_most is not None:
        figure["bound"] = at_least if at_least is not None else at_most
        figure["ok"] = value >= at_least if at_least is not None else value <= (at_most or 0)
        failed += not figure["ok"]
    print(json.dumps(figure), flush=True)


def psql(database: str, *statements: str) -> str:
    words = [word for statement in statements for word in ("-c", statement)]
    return subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database, *words], check=True, capture_output=True, text=True).stdout


def fresh(name: str, template: str = "template0") -> str:
    """Makes a database and returns its URL."""
    psql("postgres", f"drop database if exists {name} with (force)", f"create database {name} template {template}")
    query = urllib.parse.urlencode({"host": os.environ["PGHOST"], "port": os.environ["PGPORT"]})
    return f"postgresql://{os.environ['PGUSER']}@/{name}?{query}"


def fill(database: str, runs: int) -> None:
    for made in range(0, runs, 5000):
        psql(database, FILL.format(PAYLOAD, min(5000, runs - made)))


def numbers(command: list[str], **options: object) -> tuple[float, float]:
    """Runs per second and CPU per run, as the last line of a program."""
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=3600, **options)  # type: ignore[call-overload]
    speed, cpu = ended.stdout.split()[-2:]
    return float(speed), float(cpu)


def in_c(form: str, concurrency: int, runs: int) -> tuple[float, float]:
    command = [str(BUILD / "bench" / "runtime"), "--drain", form, str(concurrency), str(runs)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    found = {figure["name"]: figure["value"] for figure in map(json.loads, lines)}
    return found["speed"], found["cpu"]


def in_python(mode: str, concurrency: int, runs: int) -> tuple[float, float]:
    url = fresh("bench_python", TEMPLATE)
    fill("bench_python", runs)
    psql("bench_python", "vacuum analyze pawl_data.task", "checkpoint")
    return numbers([sys.executable, str(HERE / "pawl_worker.py"), mode, str(concurrency), str(runs)], env={**os.environ, "PAWL_DATABASE_URL": url})


def in_peer(name: str, mode: str, runs: int) -> tuple[float, float]:
    url = fresh(f"bench_{name}")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if name == "absurd":
        subprocess.run([str(PEERS / "absurdctl"), "init", "-d", url], env=environment, check=True, stdout=subprocess.DEVNULL)
    command = [str(PEERS / "python"), str(HERE / f"{name}_worker.py"), mode, str(runs), url]
    subprocess.run([*command, "fill"], env=environment, check=True)
    psql(f"bench_{name}", "vacuum analyze", "checkpoint")
    return numbers(command, env=environment)


def measure(quick: bool, own: bool) -> None:
    rounds, runs, few = (1, 2000, 200) if quick else (5, 20000, 1200)
    sides = {
        "c_next": lambda: in_c("next", 256, runs),
        "c_run": lambda: in_c("run", 64, runs),
        "python_async": lambda: in_python("async", 256, runs),
        "python_threads": lambda: in_python("threads", 64, runs),
        "python_64": lambda: in_python("async", 64, runs),
        "dbos_async": lambda: in_peer("dbos", "async", few),
        "dbos_threads": lambda: in_peer("dbos", "threads", few),
        "absurd_async": lambda: in_peer("absurd", "async", few),
        "absurd_threads": lambda: in_peer("absurd", "threads", few),
    }
    if own:
        sides = {side: call for side, call in sides.items() if side.startswith(("c_", "python_"))}
    seen: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    for number in range(rounds):
        for side, call in sides.items():
            seen[side].append(call())
            print(f"# round {number + 1}: {side} {seen[side][-1][0]:.0f} runs/s, {seen[side][-1][1]:.0f} us of CPU per run", file=sys.stderr, flush=True)
    for side, found in seen.items():
        speeds = [speed for speed, _ in found]
        say(f"{side}_speed", statistics.median(speeds), "runs/s", low=round(min(speeds)), high=round(max(speeds)), rounds=rounds)
        say(f"{side}_cpu", statistics.median(cpu for _, cpu in found), "us of CPU per run")

    def ratio(name: str, one: str, other: list[str], column: int, **bounds: float) -> None:
        """The median of the ratios of each round; of several others the one with the larger value counts."""
        values = [seen[one][n][column] / max(seen[side][n][column] for side in other) for n in range(rounds)]
        unit = f"of {other[0] if len(other) == 1 else 'the faster of ' + ' and '.join(other)}"
        say(name, statistics.median(values), unit, **({} if quick else bounds), low=round(min(values), 2), high=round(max(values), 2))

    ratio("async_ratio", "python_async", ["c_next"], 0, at_least=0.4)
    ratio("threads_ratio", "python_threads", ["c_run"], 0, at_least=0.5)
    ratio("async_cpu_ratio", "python_async", ["c_next"], 1, at_most=5.5)
    ratio("threads_cpu_ratio", "python_threads", ["c_next"], 1, at_most=6)
    if own:
        return
    # The others execute 64 at the same time, so pawl does, too.
    ratio("times_dbos", "python_64", ["dbos_async", "dbos_threads"], 0, at_least=10)
    ratio("times_absurd", "python_64", ["absurd_async", "absurd_threads"], 0, at_least=10)


def memory(path: str, runs: int) -> None:
    """A worker executes runs that are triggered while it works; its resident memory is written down a hundred times."""
    in_c("next", 1, 1)  # makes the template
    url = fresh("bench_memory", TEMPLATE)
    step, series = runs // 100, []
    command = [sys.executable, str(HERE / "pawl_worker.py"), "async", "256", str(runs), "--memory", str(step)]
    fill("bench_memory", min(runs, 20000))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PAWL_DATABASE_URL": url}) as worker:
        assert worker.stdout is not None
        made = min(runs, 20000)
        room = threading.Semaphore(0)

        def produce() -> None:
            nonlocal made
            while made < runs and room.acquire():
                more = min(step, runs - made)
                fill("bench_memory", more)
                made += more

        producer = threading.Thread(target=produce, daemon=True)
        producer.start()
        with open(path, "w") as file:
            print("finished_runs,resident_kb", file=file)
            for line in worker.stdout:
                finished, resident = map(int, line.split())
                series.append((finished, resident))
                print(finished, resident, sep=",", file=file, flush=True)
                room.release()
        if worker.wait() != 0:
            raise SystemExit("the worker failed")
    early = next(resident for finished, resident in series if finished >= runs // 10)
    say("memory_early", early, "kB resident", runs=runs // 10)
    say("memory_late", series[-1][1], "kB resident", runs=runs)
    say("memory_growth", series[-1][1] / early, "of the early figure", at_most=1.1)


def imports() -> None:
    def median(module: str) -> float:
        code = f"import time; a = time.perf_counter(); import {module}; print(time.perf_counter() - a)"
        return 1000 * statistics.median(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(21))

    theirs = median("asyncio")
    say("import_asyncio", theirs, "ms")
    say("import_pawl", median("pawl"), "ms", at_most=max(25, 1.5 * theirs))


arguments = sys.argv[1:]
if arguments[:1] == ["--memory"]:
    memory(arguments[1], int(arguments[2]) if arguments[2:] else 1_000_000)
elif arguments == ["--import"]:
    imports()
elif set(arguments) <= {"--quick", "--own"}:
    measure("--quick" in arguments, "--own" in arguments)
else:
    raise SystemExit("usage: bench/peers/run [--quick] [--own] | --memory FILE [RUNS] | --import")
sys.exit(1 if failed else 0)
