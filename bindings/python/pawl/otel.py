# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry: spans of your own code belong to the trace of the request that triggered the run.

Install the extra, ``pip install pawl[otel]``, and call ``pawl.otel.instrument()`` once in each process that
triggers or executes runs. Then:

- A trigger stores the ``traceparent`` of the current span in the metadata of the run. A handler that triggers
  a child stores that of its own run.
- The code of a step, of a transaction and of an undo is executed under a remote parent. Its trace is that of
  the run, and its id follows from the records. Spans that the code makes hang below it.

No span is made or sent here. A program that exports the records as spans computes the same ids.
"""

from __future__ import annotations

from contextvars import Token
from typing import Any

from opentelemetry import context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from . import _trace

_w3c = TraceContextTextMapPropagator()


class _Tracing:
    """What the package calls while instrument() is in force."""

    def current(self) -> dict[str, str]:
        """The traceparent of the current span, and its tracestate; nothing without a span."""
        carrier: dict[str, str] = {}
        _w3c.inject(carrier)
        return carrier

    def enter(self, traceparent: str) -> object:
        """Makes a remote parent the current span."""
        return context.attach(_w3c.extract({"traceparent": traceparent}))

    def leave(self, token: Any) -> None:
        """Makes the span before it the current one again."""
        assert isinstance(token, Token)
        context.detach(token)


def instrument() -> None:
    """Passes traces on in this process, from now on. A second call changes nothing."""
    _trace.tracing = _Tracing()


def uninstrument() -> None:
    """Ends what instrument() began, for triggers and steps that begin later."""
    _trace.tracing = None
