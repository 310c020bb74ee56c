#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays the scenarios of bindings/scenarios with Python: handlers in an event loop, or in threads.

    play.py [--mode async|threads] [--name LANGUAGE] [--only SCENARIO] FILE.json...

The database is that of libpq's variables, with the engine and the test clock. bindings/scenarios/README.md has the format.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import copy
import datetime
import itertools
import json
import os
import signal
import sys
import tempfile
import time
from typing import Any

import psycopg

import pawl
from pawl import _tx, testing

KINDS = {pawl.ChildFailed: "child", pawl.WaitTimeout: "timeout", pawl.Rejected: "refused", pawl.StepFailed: "failed"}
STEP = {
    "do",
    "as",
    "max_attempts",
    "base_ms",
    "factor",
    "cap_ms",
    "jitter",
    "timeout_ms",
    "undo",
    "undo_input",
    "undo_max_attempts",
    "undo_base_ms",
}
OPERATIONS = {
    "step": STEP,
    "transaction": {"do", "as", "commit", "max_attempts", "base_ms", "factor", "cap_ms", "jitter", "timeout_ms"},
    "sleep": {"ms", "as"},
    "event": {"topic", "key", "match", "timeout_ms", "as"},
    "signal": {"timeout_ms", "as"},
    "approval": {"form", "timeout_ms", "as"},
    "child": {"workflow", "input", "priority", "delay_ms", "metadata", "detached", "as"},
    "all": {"as"},
    "branches": {"as"},
    "each": {"branch", "does", "as"},
    "first": {"of", "as"},
    "loop": {"does", "as"},
    "try": {"catch", "as"},
    "if": {"then", "else", "as"},
    "changed": {"as"},
    "fail": set(),
    "log": {"as"},
    "progress": {"text", "as"},
    "return": set(),
}
ACTIONS = {
    "trigger": {
        "as",
        "input",
        "key",
        "tenant",
        "priority",
        "delay_ms",
        "metadata",
        "key_ttl_ms",
        "key_while_active",
        "rolled_back",
        "answer",
    },
    "emit": {"key", "tenant", "payload"},
    "signal": {"run", "payload", "answer"},
    "cancel": {"why", "rollback", "answer"},
    "wait": {"answer"},
    "follow": {"notes", "ends"},
    "call": {"arguments", "rows", "as", "answer"},
    "find": {"child_of", "step"},
    "work": set(),
    "advance_ms": set(),
    "deploy": set(),
    "worker": set(),
    "drain": set(),
    "check": set(),
}
DOES = {"trace", "log", "stream", "during", "takes_ms", "exit", "fail", "return"}
FAILURE = {"code", "message", "permanent", "retry_after_ms"}
RUN = {
    "status",
    "reason",
    "output",
    "error",
    "steps",
    "steps_count",
    "outputs",
    "history",
    "notes",
    "tenant",
    "key",
    "priority",
    "round",
    "metadata",
    "input",
    "executions_at_most",
}


class Problem(Exception):
    """The scenario fails."""


def kind_of(thing: dict, table: dict) -> str:
    """Which operation or action an object is; what is unknown is a failure."""
    found = next((name for name in table if name in thing), None)
    if found is None or set(thing) - table[found] - {found}:
        raise Problem(f"unknown: {json.dumps(thing)[:200]}")
    return found


def check_members(thing: dict, members: set[str]) -> None:
    if set(thing) - members:
        raise Problem(f"unknown: {sorted(set(thing) - members)}")


def check_do(what: Any) -> None:
    for one in what if isinstance(what, list) else [what]:
        check_members(one, DOES)
        check_members(one.get("fail", {}), FAILURE)
        for action in one.get("during", []):
            kind_of(action, ACTIONS)


def check_body(body: list) -> None:
    for op in body:
        kind = kind_of(op, OPERATIONS)
        if "do" in op:
            check_do(op["do"])
        check_members(op["fail"] if kind == "fail" else {}, FAILURE)
        inner = [op[name] for name in ("all", "does", "try", "catch", "then", "else") if name in op]
        for one in [*inner, *op.get("branches", {}).values(), *op.get("of", {}).values()]:
            check_body(one)


def check_expected(expected: dict) -> None:
    for name, wanted in expected.items():
        if name not in ("executed", "trace", "effects"):
            check_members(wanted, RUN)


def check_form(scenario: dict) -> None:
    """A member that the format does not have is a failure, even where it is never reached."""
    check_members(scenario, {"about", "workflows", "undos", "play", "expect"})
    for workflow in scenario["workflows"].values():
        check_members(workflow, {"does", "versions", "options", "flow"})
        for step in workflow.get("flow", {}).values():
            check_members(step, {"deps", "options", "does"})
            check_body(step["does"])
        for body in [workflow.get("does", []), *workflow.get("versions", {}).values()]:
            check_body(body)
    for do in scenario.get("undos", {}).values():
        check_do(do)
    for action in scenario["play"]:
        kind_of(action, ACTIONS)
        check_expected(action.get("check", {}))
    check_expected(scenario["expect"])


def canonical(value: Any) -> str:
    def order(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: order(value[name]) for name in sorted(value, key=lambda name: name.encode("utf-8", "surrogatepass"))}
        return [order(inner) for inner in value] if isinstance(value, list) else value

    return json.dumps(order(value), separators=(",", ":"), ensure_ascii=False)


def plain(value: Any) -> str:
    return value if isinstance(value, str) else canonical(value)


def drive(coroutine: Any) -> Any:
    """Executes a coroutine that never waits: the bodies of threads are the same code as those of the loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a plain handler has to wait for nothing but pawl")


def failure_of(failure: dict) -> pawl.Failure:
    code, message = failure.get("code"), failure.get("message", "")
    if failure.get("permanent"):
        return pawl.Permanent(message, code=code)
    if "retry_after_ms" in failure:
        return pawl.RetryAfter(datetime.timedelta(milliseconds=failure["retry_after_ms"]), message, code=code)
    return pawl.Failure(message, code=code)


class Returned(Exception):
    """A body has ended by return."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Player:
    """One scenario."""

    def __init__(self, name: str, scenario: dict, is_async: bool) -> None:
        self.name, self.scenario, self.is_async = name, scenario, is_async
        self.runs: dict[str, str] = {}
        self.calls: dict[str, int] = {}
        self.commits: dict[str, int] = {}
        self.trace: list[Any] = []
        self.version, self.without, self.draining = "", [], False
        self.process, self.problem = False, ""
        with tempfile.NamedTemporaryFile(delete=False) as ledger:
            self.ledger = ledger.name
        self.db = testing.TestDatabase(self.app(), "", concurrency=1)
        self.client = self.db.client

    # --- templates

    def fill(self, form: Any, variables: dict[str, Any] | None = None) -> Any:
        if isinstance(form, dict) and len(form) == 1:
            ((name, value),) = form.items()
            if name == "$":
                found: Any = variables
                for part in value.split("/"):
                    try:
                        found = found[int(part)] if isinstance(found, list) else found[part]
                    except (KeyError, IndexError, TypeError):
                        self.problem = self.problem or f'there is no "{value}"'
                        raise Problem(self.problem) from None
                return found
            if name == "$run":
                return self.runs[value]
            if name == "$fill":
                return "x" * value
        if isinstance(form, dict):
            return {name: self.fill(value, variables) for name, value in form.items()}
        return [self.fill(value, variables) for value in form] if isinstance(form, list) else form

    # --- the application

    def app(self) -> pawl.App:
        app = pawl.App()
        for name, workflow in self.scenario["workflows"].items():
            if "flow" in workflow:
                for step, what in workflow["flow"].items():
                    self.add(app, f"{name}/{step}", what)
                if self.scenario.get("undos"):
                    self.add(app, name, {"does": []})
            else:
                self.add(app, name, workflow)
        for name, do in self.scenario.get("undos", {}).items():
            if name not in self.without:
                self.add_undo(app, name, do)
        return app

    def add(self, app: pawl.App, name: str, workflow: dict) -> None:
        if name in self.without:
            return

        async def body(ctx: Any, input: Any) -> Any:
            does = workflow.get("versions", {}).get(self.version, workflow["does"])
            workflow_name = ctx.workflow.removeprefix(self.name + ".")
            known = {"input": input, "metadata": ctx.metadata, "tenant": ctx.tenant, "workflow": workflow_name}
            return await self.body(ctx, does, known, "")

        def threaded(ctx: pawl.Context, input: Any) -> Any:
            return drive(body(ctx, input))

        async def looped(ctx: pawl.AsyncContext, input: Any) -> Any:
            return await body(ctx, input)

        app.workflow(f"{self.name}.{name}")(looped if self.is_async else threaded)

    def add_undo(self, app: pawl.App, name: str, do: Any) -> None:
        async def undo(ctx: pawl.UndoContext, input: Any, output: Any) -> None:
            known = {"input": input, "output": output, "uncertain": ctx.uncertain}
            await self.do(f"undo:{name}", do, known)

        def threaded(ctx: pawl.UndoContext, input: Any, output: Any) -> None:
            drive(undo(ctx, input, output))

        async def looped(ctx: pawl.UndoContext, input: Any, output: Any) -> None:
            await undo(ctx, input, output)

        app.undo(name)(looped if self.is_async else threaded)

    # --- bodies

    async def body(self, ctx: Any, does: list, variables: dict, path: str) -> Any:
        variables = dict(variables)
        try:
            await self.operations(ctx, does, variables, path)
        except Returned as returned:
            return returned.value
        return None

    async def operations(self, ctx: Any, does: list, variables: dict, path: str) -> None:
        for operation in does:
            value = await self.operation(ctx, operation, variables, path)
            if "as" in operation:
                variables[operation["as"]] = value

    async def operation(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        kind = kind_of(op, OPERATIONS)
        return await getattr(self, "do_" + kind)(ctx, op, known, path)

    async def call(self, result: Any) -> Any:
        """Awaits what a context of the loop returns; a context of threads has returned the value itself."""
        return await result if self.is_async else result

    def options(self, op: dict, known: dict) -> dict[str, Any]:
        def seconds(name: str) -> float | None:
            return op[name] / 1000 if name in op else None

        options: dict[str, Any] = {"timeout": seconds("timeout_ms")}
        options["retry"] = pawl.Retry(op.get("max_attempts"), seconds("base_ms"), op.get("factor"), seconds("cap_ms"), op.get("jitter"))
        if "undo" in op:
            again = pawl.Retry(op.get("undo_max_attempts"), seconds("undo_base_ms"))
            options["undo"] = pawl.Compensation(op["undo"], self.fill(op.get("undo_input"), known), again)
        return options

    async def do_step(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        async def later() -> Any:
            return await self.do(path + op["step"], op["do"], known)

        function = later if self.is_async else lambda: drive(later())
        return await self.call(ctx.step(op["step"], function, **self.options(op, known)))

    async def do_transaction(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        name = path + op["transaction"]
        at = self.commits[name] = self.commits.get(name, -1) + 1
        commit = op.get("commit", "ok")
        commit = commit[min(at, len(commit) - 1)] if isinstance(commit, list) else commit
        row = (self.name, op["transaction"])

        async def later(connection: Any) -> Any:
            await connection.execute("insert into play_effect values (%s, %s)", row)
            return await self.do(name, op["do"], known)

        def now(connection: Any) -> Any:
            connection.execute("insert into play_effect values (%s, %s)", row)
            return drive(self.do(name, op["do"], known))

        options = self.options(op, known)
        if self.is_async:
            async with await AsyncFlaky.connect("", autocommit=True) as connection:
                connection.commit_as, connection.row = commit, row
                return await ctx.transaction(op["transaction"], connection, later, **options)
        with Flaky.connect("", autocommit=True) as connection:
            connection.commit_as, connection.row = commit, row
            return ctx.transaction(op["transaction"], connection, now, **options)

    async def do_sleep(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        return await self.call(ctx.sleep(op["sleep"], op["ms"] / 1000))

    def timeout(self, op: dict) -> float | None:
        return op["timeout_ms"] / 1000 if "timeout_ms" in op else None

    async def do_event(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        key, match = self.fill(op.get("key"), known), self.fill(op.get("match"), known)
        return await self.call(ctx.wait_event(op["event"], op["topic"], key=key, match=match, timeout=self.timeout(op)))

    async def do_signal(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        return await self.call(ctx.wait_signal(op["signal"], timeout=self.timeout(op)))

    async def do_approval(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        return await self.call(ctx.wait_approval(op["approval"], self.fill(op.get("form"), known), timeout=self.timeout(op)))

    async def do_child(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        options: dict[str, Any] = {"priority": op.get("priority"), "metadata": self.fill(op.get("metadata"), known)}
        options["delay"] = op["delay_ms"] / 1000 if "delay_ms" in op else None
        workflow, given = f"{self.name}.{op['workflow']}", self.fill(op.get("input"), known)
        if op.get("detached"):
            return {"run_id": await self.call(ctx.start_child(op["child"], workflow, given, **options))}
        return await self.call(ctx.child(op["child"], workflow, given, **options))

    async def do_all(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        if self.is_async:
            return await ctx.gather(*[self.operation(ctx, one, known, path) for one in op["all"]])
        return ctx.gather(*[lambda part, one=one: drive(self.operation(part, one, known, path)) for one in op["all"]])

    def bodies(self, bodies: dict[str, tuple[list, dict, str]]) -> dict[str, Any]:
        """Functions for branches."""

        def make(does: list, variables: dict, path: str) -> Any:
            if self.is_async:
                return lambda part: self.body(part, does, variables, path)
            return lambda part: drive(self.body(part, does, variables, path))

        return {name: make(*what) for name, what in bodies.items()}

    async def do_branches(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        bodies = {name: (does, known, f"{path}{name}/") for name, does in op["branches"].items()}
        values = await self.call(ctx.parallel(self.bodies(bodies)))
        return dict(zip(bodies, values, strict=True))

    async def do_each(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        name, does = op["branch"], op["does"]
        bodies = {f"{name}-{i}": (does, {**known, "i": i}, f"{path}{name}-*/") for i in range(op["each"])}
        return await self.call(ctx.parallel(self.bodies(bodies)))

    async def do_first(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        bodies = {name: (does, known, f"{path}{name}/") for name, does in op["of"].items()}
        branch, value = await self.call(ctx.first(op["first"], self.bodies(bodies)))
        return {"branch": branch, "value": value}

    async def do_loop(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        return [await self.body(ctx, op["does"], {**known, "i": i}, path) for i in range(op["loop"])]

    async def do_try(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        try:
            return await self.body(ctx, op["try"], known, path)
        except pawl.StepFailed as exc:
            kind = next(kind for cls, kind in KINDS.items() if isinstance(exc, cls))
            detail = exc.detail if isinstance(exc.detail, dict) else {}
            error = {"kind": kind, "code": detail.get("code"), "message": detail.get("message")}
        return await self.body(ctx, op["catch"], {**known, "error": error}, path)

    async def do_if(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        return await self.body(ctx, op["then"] if self.fill(op["if"], known) else op.get("else", []), known, path)

    async def do_changed(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        return await self.call(ctx.changed(op["changed"]))

    async def do_fail(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        raise failure_of(op["fail"])

    async def do_log(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        ctx.log(plain(self.fill(op["log"], known)))

    async def do_progress(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        ctx.progress(op["progress"], op["text"])

    async def do_return(self, ctx: Any, op: dict, known: dict, path: str) -> Any:
        raise Returned(copy.deepcopy(self.fill(op["return"], known)))

    # --- steps

    async def do(self, name: str, what: Any, known: dict) -> Any:
        at = self.calls.get(name, 0)
        self.calls[name] = at + 1
        what = what[min(at, len(what) - 1)] if isinstance(what, list) else what
        step = pawl.current()
        known = {**known, "attempt": step.attempt}
        if "trace" in what:
            self.trace.append(self.fill(what["trace"], known))
        if "log" in what:
            step.log(plain(self.fill(what["log"], known)))
        for piece in what.get("stream", []):
            step.stream(plain(self.fill(piece, known)))
        for action in what.get("during", []):
            self.action(action)
        if "takes_ms" in what and self.is_async:
            await asyncio.sleep(what["takes_ms"] / 1000)
        elif "takes_ms" in what:
            time.sleep(what["takes_ms"] / 1000)
        if what.get("exit"):
            if not self.process:
                raise Problem("exit, but the worker is no process of its own")
            self.save()
            os.kill(os.getpid(), signal.SIGKILL)
        if "fail" in what:
            raise failure_of(what["fail"])
        return self.fill(what.get("return"), known)

    def save(self) -> None:
        with open(self.ledger, "w") as file:
            json.dump([self.calls, self.commits, self.trace], file)

    # --- actions

    def action(self, action: dict) -> None:
        kind = kind_of(action, ACTIONS)
        answer = action.get("answer", "ok") if kind != "wait" else "ok"
        try:
            getattr(self, "act_" + kind)(action)
        except pawl.PawlError as exc:
            if not isinstance(answer, dict) or answer.get("error") != exc.code:
                raise Problem(f"{kind}: {exc.code}: {exc}") from exc
        else:
            if isinstance(answer, dict) and "error" in answer:
                raise Problem(f"{kind}: succeeded instead of {answer['error']}")

    def run_of(self, action: dict, member: str = "run") -> str:
        return self.runs[action.get(member, "run")]

    def act_trigger(self, action: dict) -> None:
        options: dict[str, Any] = {name: action[name] for name in ("key", "tenant", "priority", "key_while_active") if name in action}
        for name in ("delay", "key_ttl"):
            if name + "_ms" in action:
                options[name] = datetime.timedelta(milliseconds=action[name + "_ms"])
        if "metadata" in action:
            options["metadata"] = self.fill(action["metadata"])
        workflow, given = f"{self.name}.{action['trigger']}", self.fill(action.get("input"))
        if action.get("rolled_back"):
            with psycopg.connect("") as connection:
                pawl.trigger(connection, workflow, given, **options)
                connection.rollback()
            return
        run = self.client.trigger(workflow, given, **options)
        self.runs[action.get("as", "run")] = run
        wanted = action.get("answer")
        if isinstance(wanted, dict) and "created" in wanted and wanted["created"] != run.created:
            raise Problem(f"created is {run.created}")

    def act_emit(self, action: dict) -> None:
        self.client.emit(action["emit"], self.fill(action.get("payload")), key=action.get("key"), tenant=action.get("tenant"))

    def act_signal(self, action: dict) -> None:
        self.client.signal(self.run_of(action), action["signal"], self.fill(action.get("payload")))

    def act_cancel(self, action: dict) -> None:
        self.client.cancel(self.runs[action["cancel"]], action.get("why"), rollback=action.get("rollback", False))

    def act_wait(self, action: dict) -> None:
        wanted = action.get("answer", {})
        try:
            found: dict[str, Any] = {"output": self.client.wait(self.runs[action["wait"]], 0)}
        except pawl.PawlError as exc:
            found = {"error": exc.code, "message": exc.message}
        for name, value in wanted.items():
            self.compare(f"wait {name}", found.get(name), value)

    def act_follow(self, action: dict) -> None:
        run, wanted = self.runs[action["follow"]], self.fill(action["notes"])
        notes = self.followed(run, 0, None if action.get("ends") else len(wanted))
        self.compare("follow", [text for _, text in notes], wanted)
        if len(wanted) > 1:
            rest = self.followed(run, notes[0][0], None if action.get("ends") else len(wanted) - 1)
            self.compare("follow after the first", [text for _, text in rest], wanted[1:])

    def followed(self, run: str, after: int, count: int | None) -> list[tuple[int, str]]:
        """Notes of a run as they are stored: so many, or until it has ended."""
        notes = itertools.islice(self.client.follow(run, after, timeout=30), count)
        return [(n.note_no, " ".join(part for part in (n.kind, n.name, "begins" if n.begins else None, n.body) if part)) for n in notes]

    def act_call(self, action: dict) -> None:
        given = {name: self.fill(value) for name, value in action.get("arguments", {}).items()}
        given = {
            name: canonical(value) if isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value) else value
            for name, value in given.items()
        }
        rows = self.client.call(action["call"], **given)
        if "as" in action:
            self.runs[action["as"]] = rows[0]["run_id"]
        for row, wanted in zip(rows, action.get("rows", rows), strict=True):
            for name, value in wanted.items():
                found = row.get(name)
                if isinstance(found, bool):
                    found = "t" if found else "f"
                elif found is not None and not isinstance(found, str):
                    found = canonical(found)
                if wanted is not row:
                    self.compare(f"{action['call']} {name}", found, self.fill(value))

    def act_find(self, action: dict) -> None:
        steps = self.client.run(self.runs[action["child_of"]])["steps"]
        self.runs[action["find"]] = next(step["child"] for step in steps if step["name"] == action["step"])

    def act_work(self, action: dict) -> None:
        if action["work"] != "process":
            self.db.work(300)
            return
        self.db.restart_worker()
        child = os.fork()
        if child == 0:
            self.process = True
            self.client.close()
            try:
                self.db = testing.TestDatabase(self.app(), "", concurrency=1)
                self.client = self.db.client
                self.db.work(300)
                self.db.close()
                self.save()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        with open(self.ledger) as file:
            self.calls, self.commits, self.trace = json.load(file)

    def act_advance_ms(self, action: dict) -> None:
        self.client.advance(action["advance_ms"] / 1000)

    def act_deploy(self, action: dict) -> None:
        self.version = action["deploy"]
        self.db.restart_worker(self.app())

    def act_worker(self, action: dict) -> None:
        self.without = action["worker"].get("without", [])
        self.db.restart_worker(self.app())

    def act_drain(self, action: dict) -> None:
        self.db.worker.drain()

    def act_check(self, action: dict) -> None:
        self.expect(action["check"])

    # --- expectations

    def compare(self, what: str, found: Any, wanted: Any) -> None:
        if canonical(found) != canonical(self.fill(wanted)):
            raise Problem(f"{what} is {canonical(found)[:300]} instead of {canonical(wanted)[:300]}")

    def expect(self, expected: dict) -> None:
        for name, wanted in expected.items():
            if name == "executed":
                self.compare(name, self.calls, wanted)
            elif name == "trace":
                self.compare(name, self.trace, wanted)
            elif name == "effects":
                with psycopg.connect("") as connection:
                    row = connection.execute("select count(*) from play_effect where scenario = %s", [self.name]).fetchone()
                self.compare(name, row and row[0], wanted)
            else:
                run = self.client.run(self.runs[name])
                for member, value in wanted.items():
                    self.expect_member(name, run, member, value)

    def expect_member(self, label: str, run: dict, member: str, wanted: Any) -> None:
        steps = run["steps"] or []
        found: Any = run.get(member)
        if member == "steps":
            ordered = sorted(steps, key=lambda step: step["name"].rpartition("/")[0].encode())
            found = [f"{step['name']} {step['kind']} {step['state']}" for step in ordered]
        elif member == "steps_count":
            found = len(steps)
        elif member == "outputs":
            found = {name: next((s["output"] for s in steps if s["name"] == name), None) for name in wanted}
        elif member == "error" and isinstance(wanted, dict):
            found = {name: (run["error"] or {}).get(name) for name in wanted}
        elif member == "history":
            found = [row["what"] for row in self.client.call("history", run=run["run_id"])]
        elif member == "notes":
            found = [
                " ".join(part for part in (row["kind"], row["name"], row["body"] or "") if part is not None and part != "")
                for row in self.client.notes(run["run_id"])
            ]
        elif member == "executions_at_most":
            found = wanted if run["execution"] <= wanted else run["execution"]
        elif member not in run:
            raise Problem(f"unknown expectation {member}")
        self.compare(f"{label}: {member}", found, wanted)

    def play(self) -> None:
        check_form(self.scenario)
        for name, workflow in self.scenario["workflows"].items():
            options = {"jitter": 0, "max_attempts": 1, **workflow.get("options", {})}
            full = f"{self.name}.{name}"
            self.client.call("create_flow" if "flow" in workflow else "create_workflow", name=full, **options)
            for step, what in workflow.get("flow", {}).items():
                self.client.call("add_step", flow=full, step=step, deps=what.get("deps", []), options=what.get("options", {}))
        for action in self.scenario["play"]:
            self.action(action)
        if self.problem:
            raise Problem(self.problem)
        self.expect(self.scenario["expect"])

    def close(self) -> None:
        self.db.close()
        os.unlink(self.ledger)


_token: list[str] = []
_fetch, _fetch_async = _tx.fetch, _tx.fetch_async


def _watch(connection: Any, columns: str, verb: str, arguments: Any) -> Any:
    _token[:] = [arguments["token"][1], arguments["output"][1]]
    return _fetch(connection, columns, verb, arguments)


def _watch_async(connection: Any, columns: str, verb: str, arguments: Any) -> Any:
    _token[:] = [arguments["token"][1], arguments["output"][1]]
    return _fetch_async(connection, columns, verb, arguments)


_tx.fetch, _tx.fetch_async = _watch, _watch_async
INSERT, RECORD = "insert into play_effect values (%s, %s)", "select pawl.record_step(%s, %s)"


class Flaky(psycopg.Connection):
    """A connection whose commit goes as the scenario says."""

    commit_as, row = "ok", ("", "")

    @contextlib.contextmanager
    def transaction(self, *args: Any, **kwargs: Any) -> Any:
        with super().transaction() as tx:
            yield tx
            if self.commit_as == "never":
                raise psycopg.OperationalError("the connection broke before the commit")
        if self.commit_as == "lost":
            raise psycopg.OperationalError("the reply to the commit was lost")
        if self.commit_as == "repeat":
            with super().transaction(force_rollback=True):
                self.execute(INSERT, self.row)
                answer = self.execute(RECORD, _token).fetchone()
                assert answer == ("already",), answer


class AsyncFlaky(psycopg.AsyncConnection):
    """The same, asynchronous."""

    commit_as, row = "ok", ("", "")

    @contextlib.asynccontextmanager
    async def transaction(self, *args: Any, **kwargs: Any) -> Any:
        async with super().transaction() as tx:
            yield tx
            if self.commit_as == "never":
                raise psycopg.OperationalError("the connection broke before the commit")
        if self.commit_as == "lost":
            raise psycopg.OperationalError("the reply to the commit was lost")
        if self.commit_as == "repeat":
            async with super().transaction(force_rollback=True):
                await self.execute(INSERT, self.row)
                answer = await (await self.execute(RECORD, _token)).fetchone()
                assert answer == ("already",), answer


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", choices=["async", "threads"], default="async")
    parser.add_argument("--name")
    parser.add_argument("--only")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    name = arguments.name or f"python-{arguments.mode}"
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute("create table if not exists play_effect (scenario text, step text)")
    failed = False
    for path in arguments.files:
        with open(path) as file:
            scenarios = json.load(file)
        if not isinstance(scenarios, dict):
            return 2
        for scenario, what in scenarios.items():
            if arguments.only not in (None, scenario):
                continue
            player = Player(scenario, what, arguments.mode == "async")
            try:
                player.play()
                result = "ok\t"
            except (Problem, TimeoutError, pawl.PawlError, KeyError, ValueError) as exc:
                result, failed = f"FAIL\t{type(exc).__name__}: {exc}".replace("\n", " "), True
            finally:
                player.close()
            print(f"{name}\t{scenario}\t{result}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
