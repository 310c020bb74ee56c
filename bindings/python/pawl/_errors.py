# SPDX-License-Identifier: Apache-2.0
"""The exceptions of pawl, and how an exception of a step or a handler is recorded."""

from __future__ import annotations

import json
import traceback
from typing import Any

from ._seconds import Seconds, milliseconds

MESSAGE_MAX = 4000
TRACE_MAX = 8000


class PawlError(Exception):
    """A call failed. The attributes say why and what to do.

    code: the name of the status, such as ``PAWL_ENOTFOUND``.
    hint: what to do next, as a sentence, or "".
    sqlstate: the five characters of PostgreSQL or pawl (PW001 …), or "".
    retryable: whether the same call can succeed later without taking effect twice.
    detail: the recorded error of a run or step, or None.
    """

    def __init__(
        self,
        message: str,
        code: str = "PAWL_EDATABASE",
        hint: str = "",
        sqlstate: str = "",
        retryable: bool = False,
        detail: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.sqlstate = sqlstate
        self.retryable = retryable
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message

    @property
    def recorded_code(self) -> str | None:
        """The code inside the recorded error, such as the name of the exception that a step raised."""
        code = self.detail.get("code") if isinstance(self.detail, dict) else None
        return code if isinstance(code, str) else None


class StepFailed(PawlError):
    """A step has failed permanently. Every replay raises the same."""


class ChildFailed(StepFailed):
    """A child run failed or was cancelled."""


class WaitTimeout(StepFailed):
    """A wait ended because its time has passed."""


class Rejected(StepFailed):
    """A person rejected an approval. ``decision`` has by, why and payload."""

    decision: Any = None


class UsageError(PawlError):
    """The program made an invalid call; a retry would not fix it, so it ends the run."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, "PAWL_EINVAL", hint)


class Failure(Exception):
    """Raise it in a step or a handler to fail this attempt with your own code; the policy decides what follows."""

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class Permanent(Failure):
    """Raise it in a step or a handler: the failure is final and is not retried."""


class RetryAfter(Failure):
    """Raise it in a step or a handler: retry, ``seconds`` or a timedelta later at the earliest."""

    def __init__(self, seconds: Seconds, message: str = "", *, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.seconds = seconds


# These are no Exception: code that says `except Exception` must not catch them.
class Suspended(BaseException):
    """The run waits and releases the worker; the handler is executed again later. Do not catch it."""


class RunCancelled(BaseException):
    """The run was cancelled. Clean up and let it pass."""


class LeaseLost(BaseException):
    """Another worker has the run. Clean up and let it pass."""


def _text(exc: BaseException) -> str:
    try:
        text = str(exc)
    except Exception:
        text = "(the exception has no text)"
    return text[:MESSAGE_MAX].replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _trace(exc: BaseException) -> str:
    try:
        text = "".join(traceback.format_tb(exc.__traceback__)[-8:])
    except Exception:
        return ""
    return text[-TRACE_MAX:].replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def leaves(exc: BaseException) -> list[BaseException]:
    """The exceptions inside exception groups, in order; or the exception itself."""
    if isinstance(exc, BaseExceptionGroup):
        return [leaf for inner in exc.exceptions for leaf in leaves(inner)]
    return [exc]


def is_final(exc: BaseException) -> bool:
    """Whether this exception ends a run: recorded results, Permanent and invalid calls do."""
    return all(isinstance(leaf, (Permanent, StepFailed, UsageError)) for leaf in leaves(exc))


def retry_after(exc: BaseException) -> int | None:
    """How long the retry has to wait at least, in milliseconds. Raises if the program gave no duration."""
    waits = [milliseconds(leaf.seconds) for leaf in leaves(exc) if isinstance(leaf, RetryAfter)]
    return max(waits) if waits else None


def describe(exc: BaseException) -> dict[str, Any]:
    """The error that is recorded for an exception."""
    exc = leaves(exc)[0]
    if isinstance(exc, StepFailed) and isinstance(exc.detail, dict):
        return exc.detail
    code = exc.code if isinstance(exc, (Failure, PawlError)) else None
    error = {"code": code or type(exc).__name__, "message": _text(exc)}
    trace = _trace(exc)
    if trace and not isinstance(exc, StepFailed):
        error["trace"] = trace
    return error


def to_json(error: dict[str, Any]) -> bytes:
    """An error as JSON."""
    return json.dumps(error, separators=(",", ":"), ensure_ascii=False, default=str).encode("utf-8", "replace")
