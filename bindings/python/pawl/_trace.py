# SPDX-License-Identifier: Apache-2.0
"""What the package calls to pass traces on. pawl.otel sets it; without that, nothing is done."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Protocol

from ._lib import Pointer, ffi, lib, text


class Tracing(Protocol):
    """What pawl.otel provides."""

    def current(self) -> dict[str, str]:
        """The traceparent of the current span, and its tracestate; nothing without a span."""
        ...

    def enter(self, traceparent: str) -> object:
        """Makes a remote parent the current span."""
        ...

    def leave(self, token: Any) -> None:
        """Makes the span before it the current one again."""
        ...


tracing: Tracing | None = None
logger = logging.getLogger("pawl")


def _of(handle: Pointer) -> str:
    """The traceparent of the open step, else of the run."""
    out = ffi.new("char[]", lib.PAWL_TRACEPARENT_SIZE)
    lib.pawl_run_traceparent(handle, out)
    return text(out)


def for_trigger(metadata: dict[str, Any] | None) -> dict[str, Any] | None:
    """The metadata of a run that is triggered here. A traceparent that the caller has given stays."""
    if tracing is None or (metadata is not None and "traceparent" in metadata):
        return metadata
    found = tracing.current()
    return {**(metadata or {}), **found} if found else metadata


def for_child(handle: Pointer, metadata: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The metadata of a child of a run."""
    if tracing is None or (metadata is not None and "traceparent" in metadata):
        return metadata
    return {**(metadata or {}), "traceparent": _of(handle)}


def enter(handle: Pointer) -> object:
    """Begins the code of a step. Returns what leave() needs. A tracer that fails does not fail the step."""
    found = tracing
    if found is None:
        return None
    try:
        return (found, found.enter(_of(handle)))
    except Exception as exc:
        logger.warning("the trace of a step is lost: %s", type(exc).__name__)
        return None


def leave(entered: Any) -> None:
    """Ends the code of a step."""
    if entered is None:
        return
    try:
        entered[0].leave(entered[1])
    except Exception as exc:
        logger.warning("the trace of a step is lost: %s", type(exc).__name__)
