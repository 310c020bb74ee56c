# SPDX-License-Identifier: Apache-2.0
"""pawl: durable workflows on PostgreSQL.

The runtime is libpawl, which this package carries; here is only what makes it Python. See
docs/guide/python.md for the first five minutes.
"""

from ._aio import AsyncContext
from ._app import App, Blocking, Compensation, Retry, TriggerOptions, Undo, Workflow, blocking
from ._client import Client, Note, install
from ._codec import Codec
from ._context import Context, Step, UndoContext, current
from ._errors import (
    ChildFailed,
    Failure,
    LeaseLost,
    PawlError,
    Permanent,
    Rejected,
    RetryAfter,
    RunCancelled,
    StepFailed,
    Suspended,
    UsageError,
    WaitTimeout,
)
from ._lib import version as _version
from ._sql import RunId, cancel, emit, signal, trigger, trigger_many
from ._worker import RunLog, Worker

__version__ = _version()

__all__ = [
    "App",
    "AsyncContext",
    "Blocking",
    "ChildFailed",
    "Client",
    "Codec",
    "Compensation",
    "Context",
    "Failure",
    "LeaseLost",
    "Note",
    "PawlError",
    "Permanent",
    "Rejected",
    "Retry",
    "RetryAfter",
    "RunCancelled",
    "RunId",
    "RunLog",
    "Step",
    "StepFailed",
    "Suspended",
    "TriggerOptions",
    "Undo",
    "UndoContext",
    "UsageError",
    "WaitTimeout",
    "Worker",
    "Workflow",
    "__version__",
    "blocking",
    "cancel",
    "current",
    "emit",
    "install",
    "signal",
    "trigger",
    "trigger_many",
]
