# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry: spans of steps hang below remote parents whose ids follow from the records."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from test_handlers import Lazy, pawl_app, play  # noqa: F401

import pawl
import pawl.otel

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = provider.get_tracer("test")


@pytest.fixture(autouse=True)
def instrumented() -> Iterator[None]:
    exporter.clear()
    pawl.otel.instrument()
    yield
    pawl.otel.uninstrument()


def spans() -> dict[str, ReadableSpan]:
    found = exporter.get_finished_spans()
    assert len({span.name for span in found}) == len(found)
    return {span.name: span for span in found}


def ids(span: ReadableSpan) -> tuple[str, str]:
    """The trace of a span, and its parent, which is remote."""
    assert span.context is not None and span.parent is not None and span.parent.is_remote
    assert span.parent.trace_id == span.context.trace_id
    return f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}"


def span_of(text: str) -> str:
    """The id of a span, as pawl_run_traceparent() makes it."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def work(name: str) -> str:
    with tracer.start_as_current_span(name):
        return name


def test_spans_of_steps_belong_to_the_trace_of_the_trigger(play: Lazy) -> None:  # noqa: F811
    async def later(name: str) -> str:
        await asyncio.sleep(0)
        return work(name)

    attempts: list[int] = []

    def fails_once() -> str:
        attempts.append(pawl.current().attempt)
        work(f"try {len(attempts)}")
        if len(attempts) == 1:
            raise ValueError("not yet")
        return "done"

    @play.app.workflow("t.kid")
    def kid(ctx: pawl.Context) -> str:
        assert not trace.get_current_span().get_span_context().is_valid
        return ctx.step("inner", work, "kid")

    @play.app.workflow("t.main")
    async def main(ctx: pawl.AsyncContext) -> None:
        left = ctx.branch("left")
        await ctx.gather(ctx.step("a", later, "one"), ctx.step("a", pawl.blocking(work), "two"), left.step("b", later, "three"))
        await ctx.step("again", fails_once, retry=pawl.Retry(max_attempts=2, base=0.001))
        await ctx.child("kid", "t.kid")

    play.db.client.call("create_workflow", name="t.kid", jitter=0)
    play.db.client.call("create_workflow", name="t.main", jitter=0)
    with tracer.start_as_current_span("request") as request:
        run = play.db.client.trigger("t.main")
    for _ in range(3):
        play.db.work()
        play.db.advance(10)
    assert play.db.status(run) == "SUCCESS"
    found, given = spans(), request.get_span_context()
    root, flags = f"{given.trace_id:032x}", f"{given.trace_flags:02x}"
    # No span but those of the program was made.
    assert sorted(found) == ["kid", "one", "request", "three", "try 1", "try 2", "two"]
    assert play.db.client.run(run)["metadata"] == {"traceparent": f"00-{root}-{given.span_id:016x}-{flags}"}
    assert ids(found["one"]) == (root, span_of(f"{run}/a#1 1 1"))
    assert ids(found["two"]) == (root, span_of(f"{run}/a#2 1 1"))
    assert ids(found["three"]) == (root, span_of(f"{run}/left/b#1 1 1"))
    assert ids(found["try 1"]) == (root, span_of(f"{run}/again#1 1 1"))
    assert ids(found["try 2"]) == (root, span_of(f"{run}/again#1 1 2"))
    child = play.db.client.run(run)["steps"][-1]["child"]
    assert play.db.client.run(child)["metadata"] == {"traceparent": f"00-{root}-{span_of(f'{run} 1')}-{flags}"}
    assert ids(found["kid"]) == (root, span_of(f"{child}/inner#1 1 1"))


def test_a_run_without_a_traceparent_is_a_trace_of_its_own(play: Lazy) -> None:  # noqa: F811
    @play.app.undo("t.back")
    def back(ctx: pawl.UndoContext, given: Any, output: Any) -> None:
        work("undo")

    @play.app.workflow("t.alone")
    def alone(ctx: pawl.Context) -> None:
        ctx.step("a", work, "step", undo=back.with_input(1))
        raise pawl.Permanent("no")

    run = play.run("t.alone")
    assert play.db.status(run) == "ERROR"
    assert play.db.client.run(run)["metadata"] is None
    trace_id = run.replace("-", "")
    assert ids(spans()["step"]) == (trace_id, span_of(f"{run}/a#1 1 1"))
    assert ids(spans()["undo"])[0] == trace_id
    assert not trace.get_current_span().get_span_context().is_valid


def test_what_is_not_sampled_and_what_the_caller_gives_stay(play: Lazy) -> None:  # noqa: F811
    @play.app.workflow("t.given")
    def given(ctx: pawl.Context) -> None:
        ctx.step("a", work, ctx.metadata["name"])

    play.db.client.call("create_workflow", name="t.given")
    known = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
    with tracer.start_as_current_span("request"):
        play.db.client.trigger("t.given", metadata={"traceparent": known + "01", "name": "sampled"})
        play.db.client.trigger("t.given", metadata={"traceparent": known + "00", "name": "not sampled"})
    play.db.work()
    assert sorted(spans()) == ["request", "sampled"]
    assert ids(spans()["sampled"])[0] == known[3:35]


def test_nothing_is_passed_on_without_instrument(play: Lazy) -> None:  # noqa: F811
    pawl.otel.uninstrument()

    @play.app.workflow("t.plain")
    def plain(ctx: pawl.Context) -> None:
        ctx.step("a", work, "step")

    play.db.client.call("create_workflow", name="t.plain")
    with tracer.start_as_current_span("request"):
        run = play.db.client.trigger("t.plain")
    play.db.work()
    assert play.db.client.run(run)["metadata"] is None
    assert spans()["step"].parent is None


def test_the_package_does_not_import_opentelemetry() -> None:
    code = "import sys, pawl; sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
