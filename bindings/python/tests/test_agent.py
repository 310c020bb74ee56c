# SPDX-License-Identifier: Apache-2.0
"""A durable agent: its worker and its reader are killed, no recorded call is paid for twice, and no token is lost or seen twice.

PAWL_AGENT_KILLS=100 is the full size.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import importlib.util
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import PATIENCE, Real

import pawl

HERE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "agent"
KILLS = int(os.environ.get("PAWL_AGENT_KILLS", "4"))
LEASE = "2s"
WISH = "a kettle, please"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"agent_{name}", HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


model_module = load("model")


# Added to the agent: it tells the stand-in where it is.
PROBE = """

import collections
import functools
import urllib.parse

counts = collections.Counter()


def tell(where):
    counts[where] += 1
    urllib.request.urlopen(os.environ["MODEL_URL"] + "?" + urllib.parse.urlencode({"at": where, "nth": counts[where]})).read()


def told(method):
    @functools.wraps(method)
    def call(self, name, *arguments, **options):
        tell("before " + name)
        result = method(self, name, *arguments, **options)
        tell("after " + name)
        return result
    return call


pawl.Context.step = told(pawl.Context.step)
pawl.Context.wait_approval = told(pawl.Context.wait_approval)
TOOLS = {name: lambda what, tool=tool: (tell("in tool"), tool(what))[1] for name, tool in TOOLS.items()}
"""


class Answer(model_module.Answer):  # type: ignore[misc, name-defined]
    def do_GET(self) -> None:
        where = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        self.server.event(where["at"], int(where["nth"]) - 1)
        self.send_response(204)
        self.end_headers()

    def do_POST(self) -> None:
        self.server.keys[self.headers["Idempotency-Key"]] += 1
        super().do_POST()


class Model(model_module.Model):  # type: ignore[misc, name-defined]
    """The stand-in. It counts calls by their key, and the callers that it serves."""

    def __init__(self, event: Callable[[str, int], None]) -> None:
        super().__init__(event=event)
        self.RequestHandlerClass = Answer
        self.keys: collections.Counter[str] = collections.Counter()
        self.begun = self.ended = 0

    def process_request(self, request: Any, address: Any) -> None:
        self.begun += 1
        super().process_request(request, address)

    def process_request_thread(self, request: Any, address: Any) -> None:
        super().process_request_thread(request, address)
        self.ended += 1


class Scene:
    """A model, a database, and a worker that is started again when it has been killed."""

    def __init__(self, real: Real, path: pathlib.Path) -> None:
        self.real, self.path = real, path
        self.hold = threading.Event()  # while it is clear, the agent waits at the moment of kill_at
        self.hold.set()
        self.reached = threading.Event()
        self.kill_at: tuple[str, int] | None = None
        self.lock = threading.Lock()
        self.open = 0  # calls whose answer the model has not ended
        self.model = Model(self.event)
        threading.Thread(target=self.model.serve_forever, daemon=True).start()
        self.code = (HERE / "agent.py").read_text() + PROBE
        os.environ["MODEL_URL"] = self.model.url
        self.worker: subprocess.Popen[str] | None = None
        self.lost = 0  # calls that were in flight when their worker was killed
        self.paid: dict[str, int] = {}  # how often each recorded call had been made when it was seen to be recorded

    def event(self, what: str, turn: int) -> None:
        with self.lock:
            self.open += {"asked": 1, "ends": -1}.get(what, 0)
        if self.kill_at == (what, turn + 1):
            self.kill_at = None
            self.hold.clear()
            self.reached.set()
        self.hold.wait(60 * PATIENCE)

    def start(self) -> None:
        self.worker = self.real.start(
            self.code, self.path, "--set", f"lease={LEASE}", "--set", "application_name=agent worker", module="agent"
        )

    def trigger(self, approved: bool = True) -> str:
        run = self.real.client.trigger("agent.shopper.v1", WISH)
        if approved:
            self.real.client.approve(run, "approve", by="Ann")
        return run

    def recorded(self, run: str) -> list[str]:
        """The model's calls that are recorded."""
        steps = self.real.client.run(run)["steps"] or []
        return [step["name"] for step in steps if step["name"].startswith("model#") and step["state"] == "SUCCESS"]

    def ended(self, run: str) -> bool:
        return self.real.client.run(run)["ended_at"] is not None

    def kill(self, runs: list[str]) -> int:
        """Kills the worker. Returns how many calls were in flight: made, not recorded, and never to be."""
        assert self.worker is not None
        self.worker.kill()
        self.worker.wait()
        unanswered = self.open
        self.hold.set()
        # What the worker had sent before it died may arrive a moment later, at the model and at the database. A session of a dead process
        # commits nothing more once it is gone.
        urllib.request.urlopen(self.model.url + "?at=quiet&nth=1").read()
        self.real.until(lambda: self.model.begun == self.model.ended)
        self.real.until(lambda: self.sessions() == 0)
        self.open = 0
        lost = self.model.calls - self.check(runs) - self.lost
        self.lost += lost
        assert unanswered <= lost <= 1
        return lost

    def check(self, runs: list[str]) -> int:
        """A recorded call is never made again. Returns how many are recorded."""
        count = 0
        for run in runs:
            for name in self.recorded(run):
                [key] = [key for key in self.model.keys if run in key and key.endswith(name)]
                assert self.paid.setdefault(key, self.model.keys[key]) == self.model.keys[key], key
                count += 1
        return count

    def finish(self, run: str, reader: Reader) -> None:
        """The run ends well, and the reader has what the records say."""
        assert self.real.client.wait(run, 60 * PATIENCE) == model_module.SAYS[2][0]
        assert reader.process.wait(60 * PATIENCE) == 0
        assert reader.steps() == said(self, run)
        assert self.worker is not None
        self.worker.kill()
        self.worker.wait()

    def sessions(self) -> int:
        with pawl_connect(self.real.url) as connection:
            found = connection.execute(
                "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'agent worker'"
            ).fetchone()
        return int(found[0])

    def close(self) -> None:
        self.hold.set()
        self.model.shutdown()
        self.model.server_close()


def pawl_connect(url: str) -> Any:
    import psycopg

    return psycopg.connect(url)


def calls_of(url: str, function: str) -> int:
    with pawl_connect(url) as connection:
        found = connection.execute(
            "select coalesce(sum(calls), 0) from pg_stat_user_functions where schemaname = 'pawl' and funcname = %s", [function]
        ).fetchone()
    return int(found[0])


@pytest.fixture
def scene(real: Real, tmp_path: pathlib.Path) -> Iterator[Scene]:
    found = Scene(real, tmp_path)
    yield found
    found.close()


class Reader:
    """The example's reader in a process of its own."""

    def __init__(self, url: str, run: str, path: pathlib.Path) -> None:
        self.file = path / f"{run}.json"
        self.command = [sys.executable, str(HERE / "read.py"), run, str(self.file)]
        self.environment = dict(os.environ, PAWL_DATABASE_URL=url)
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, env=self.environment, stdout=subprocess.DEVNULL)

    def again(self) -> None:
        self.process.kill()
        self.process.wait()
        self.start()

    def steps(self) -> dict[str, str]:
        with contextlib.suppress(FileNotFoundError):
            return dict(json.loads(self.file.read_text())["steps"])
        return {}


def said(scene: Scene, run: str) -> dict[str, str]:
    """What the records say that the model said."""
    steps = scene.real.client.run(run)["steps"]
    return {step["name"]: step["output"]["content"] for step in steps if step["name"].startswith("model#")}


TURNS, CALLS = (1, 2, 3), {"model": 3, "tool": 2, "approve": 1}
MOMENTS = [(f"{side} {name}", nth) for name, count in CALLS.items() for nth in range(1, count + 1) for side in ("before", "after")]
MOMENTS += [(what, turn) for turn in TURNS for what in ("asked", "says", "answered")]
MOMENTS += [("in tool", 1), ("in tool", 2), ("suspended", 1)]
if KILLS < 100:
    MOMENTS = [("says", 1), ("after model", 2), ("suspended", 1), ("answered", 3)]
LOST = {"asked": {1}, "says": {1}, "answered": {0, 1}}


def test_killed_at_every_boundary_it_pays_for_no_recorded_call(scene: Scene, tmp_path: pathlib.Path) -> None:
    runs: list[str] = []
    for what, nth in MOMENTS:
        # A new run for each moment: five crashes without a record in between end a run.
        scene.kill_at = (what, nth)
        scene.reached.clear()
        scene.start()
        run = scene.trigger(approved=what != "suspended")
        runs.append(run)
        reader = Reader(scene.real.url, run, tmp_path)
        if what == "suspended":
            scene.real.until(lambda r=run: scene.real.client.call("list_waits", only_run=r, only_approvals=True))
        else:
            assert scene.reached.wait(60 * PATIENCE), (what, nth)
        if what == "says":
            # The first token is seen while the step is executed. Then worker and reader die.
            scene.real.until(lambda r=reader, n=nth: r.steps().get(f"model#{n}"))
            assert f"model#{nth}" not in scene.recorded(run)
        assert scene.kill(runs) in LOST.get(what, {0}), (what, nth)
        reader.again()
        if what == "suspended":
            scene.real.client.approve(run, "approve", by="Ann")
        scene.start()
        scene.finish(run, reader)
    print("boundaries", len(MOMENTS), "calls", scene.model.calls, "in flight at a kill", scene.lost)
    assert scene.model.calls == scene.check(runs) + scene.lost
    assert scene.model.calls == 3 * len(MOMENTS) + scene.lost


def test_killed_at_random_it_pays_for_no_recorded_call(scene: Scene, tmp_path: pathlib.Path) -> None:
    seed = os.environ.get("PAWL_SEED", str(random.randrange(10**6)))
    print("seed", seed)
    dice = random.Random(seed)
    scene.model.pause = 0.01
    scene.real.client.call("create_workflow", name="agent.shopper.v1")
    runs: list[str] = []
    killed = 0
    while killed < KILLS:
        run = scene.trigger()
        runs.append(run)
        reader = Reader(scene.real.url, run, tmp_path)
        for execution in range(1, 1 + min(2, KILLS - killed)):
            scene.start()
            # The lease of the killed worker must expire before the run is executed again. An execution takes about half a second.
            scene.real.until(lambda r=run, e=execution: scene.real.client.run(r)["execution"] >= e or scene.ended(r))
            time.sleep(dice.uniform(0, 0.5))
            ended = scene.ended(run)
            scene.kill(runs)
            killed += not ended
            reader.again()
        scene.start()
        scene.finish(run, reader)
    print("kills", killed, "runs", len(runs), "calls", scene.model.calls, "in flight at a kill", scene.lost)
    assert scene.model.calls == scene.check(runs) + scene.lost
    assert scene.model.calls == 3 * len(runs) + scene.lost


def test_a_rejected_purchase_is_told_to_the_model(scene: Scene) -> None:
    scene.start()
    run = scene.trigger(approved=False)
    scene.real.until(lambda: scene.real.client.call("list_waits", only_run=run, only_approvals=True))
    scene.real.client.reject(run, "approve", by="Ann", why="too dear")
    assert scene.real.client.wait(run, 60 * PATIENCE) == model_module.SAYS[2][0]
    assert [step["name"] for step in scene.real.client.run(run)["steps"]] == ["model#1", "tool#1", "model#2", "approve#1", "model#3"]


def test_a_reader_that_waits_asks_once_a_second(real: Real) -> None:
    real.client.call("create_workflow", name="agent.shopper.v1")
    run = real.client.trigger("agent.shopper.v1", WISH)
    asked: list[float] = []
    client = pawl.Client(real.url + " options='-c track_functions=pl'")
    call = client.call

    def count(verb: str, **arguments: Any) -> list[dict[str, Any]]:
        asked.append(time.monotonic())
        if len(asked) == 9:
            real.client.cancel(run)
        return call(verb, **arguments)

    client.call = count  # type: ignore[method-assign]
    assert list(client.follow(run)) == []
    client.close()
    pauses = [after - before for before, after in itertools.pairwise(asked)]
    # After two seconds all pauses have the full length.
    assert all(pause >= 1.0 for pause in pauses[6:]), pauses
    # The server counts, too; it knows of the calls of a connection when that has ended.
    real.until(lambda: calls_of(real.url, "follow") >= len(asked))
    assert calls_of(real.url, "follow") == len(asked)


def test_a_reader_gives_up_after_its_timeout(real: Real) -> None:
    real.client.call("create_workflow", name="agent.shopper.v1")
    run = real.client.trigger("agent.shopper.v1", WISH)
    for timeout in (0, 0.2):
        with pytest.raises(pawl.PawlError) as caught:
            list(real.client.follow(run, timeout=timeout))
        assert caught.value.code == "PAWL_ETIMEOUT" and caught.value.retryable

    async def read() -> None:
        async for note in real.client.follow_async(run, timeout=0.2):
            raise AssertionError(note)

    with pytest.raises(pawl.PawlError, match="no new notes"):
        asyncio.run(read())
    real.client.cancel(run)
    assert list(real.client.follow(run, timeout=0)) == []
