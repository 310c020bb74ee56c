# SPDX-License-Identifier: Apache-2.0
"""libpawl, and the few conversions that all calls to it share."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from typing import Any

from ._codec import Payloads
from ._errors import (
    ChildFailed,
    LeaseLost,
    PawlError,
    Rejected,
    RunCancelled,
    StepFailed,
    Suspended,
    UsageError,
    WaitTimeout,
    describe,
    is_final,
    retry_after,
    to_json,
)
from ._ffi import ffi as ffi
from ._ffi import lib as lib

# A pointer of cffi, or one of its arrays.
Pointer = Any

NULL = ffi.NULL
NONE = ffi.new("pawl_bytes *")[0]
OK: int = lib.PAWL_OK
EINVAL: int = lib.PAWL_EINVAL
ETIMEOUT: int = lib.PAWL_ETIMEOUT
EREFUSED: int = lib.PAWL_EREFUSED
ELEASE_LOST: int = lib.PAWL_ELEASE_LOST
ECANCELLED: int = lib.PAWL_ECANCELLED
ERUN: int = lib.PAWL_ERUN
EFAILED: int = lib.PAWL_EFAILED
EPERMANENT: int = lib.PAWL_EPERMANENT
SUSPENDED: int = lib.PAWL_SUSPENDED
EXECUTE: int = lib.PAWL_EXECUTE
PENDING: int = lib.PAWL_PENDING
DRAINED: int = lib.PAWL_DRAINED


logger = logging.getLogger("pawl")


def c_text(value: str) -> bytes:
    """A text for the library, where texts end at NUL: what follows one would be cut without a word."""
    data = value.encode()
    if b"\0" in data:
        raise UsageError("a text has a NUL character", "Names, keys, tenants, topics, ids, reasons and settings have none.")
    return data


def text(pointer: Pointer) -> str:
    """A text of the library."""
    if pointer == NULL:
        return ""
    found: bytes = ffi.string(pointer)
    return found.decode("utf-8", "replace")


def data_of(value: Pointer) -> bytes | None:
    """A copy of a pawl_bytes; None if it is empty."""
    if value.data == NULL:
        return None
    found: bytes = ffi.unpack(value.data, value.size)
    return found


def raise_error(status: int, slot: Pointer, payloads: Payloads | None = None) -> None:
    """Raises what a call of a client or worker failed with, and frees its error."""
    error = slot[0]
    try:
        detail = data_of(lib.pawl_error_detail(error)) if error != NULL else None
        found = json.loads(detail) if detail else None
        message = text(lib.pawl_error_message(error)) or text(lib.pawl_status_text(status))
        if payloads is not None and payloads.codec is not None:
            found = payloads.load_error(found)
            if isinstance(found, dict) and found.get("message"):
                message = str(found["message"])
        exc = PawlError(
            message,
            text(lib.pawl_status_name(status)),
            text(lib.pawl_error_hint(error)),
            text(lib.pawl_error_sqlstate(error)),
            bool(lib.pawl_error_retryable(error)),
            found,
        )
    finally:
        lib.pawl_error_free(error)
        slot[0] = NULL
    raise exc


def check(status: int, slot: Pointer, payloads: Payloads | None = None) -> None:
    """Raises unless the call has succeeded."""
    if status != OK:
        raise_error(status, slot, payloads)


_results = {EFAILED: StepFailed, ETIMEOUT: WaitTimeout, EREFUSED: Rejected, ERUN: ChildFailed}


def run_error(run: Pointer, status: int, payloads: Payloads) -> BaseException:
    """The exception for what a call on a run returned."""
    if status == SUSPENDED:
        return Suspended("the run waits")
    if status == ECANCELLED:
        return RunCancelled("the run was cancelled")
    if status == ELEASE_LOST:
        return LeaseLost("another worker has the run")
    message = text(lib.pawl_run_error_message(run))
    if status == EINVAL:
        return UsageError(message)
    raw = data_of(lib.pawl_run_error(run))
    detail = payloads.load_error(json.loads(raw)) if raw else None
    if isinstance(detail, dict) and detail.get("message"):
        message = str(detail["message"])
    return _results.get(status, PawlError)(message, text(lib.pawl_status_name(status)), detail=detail)


def _error_of(exc: BaseException, payloads: Payloads) -> bytes:
    """The error that is stored for an exception. An error that the codec cannot encode is not stored as it is: it may have a secret."""
    try:
        return to_json(payloads.dump_error(describe(exc)))
    except BaseException as fault:
        reason = type(fault).__name__
    code = type(exc).__name__
    with contextlib.suppress(BaseException):
        code = str(describe(exc)["code"])
    return to_json({"code": code, "message": f"(the error could not be stored: {reason})"})


def set_error(run: Pointer, exc: BaseException, payloads: Payloads) -> int:
    """Stores why a step or a handler failed. Returns the status to finish it with. Never raises: a run without an end stays held."""
    status = EFAILED
    try:
        data = _error_of(exc, payloads)
        lib.pawl_run_set_error_json(run, (ffi.from_buffer(data), len(data)))
        status = EPERMANENT if is_final(exc) else EFAILED
        after = retry_after(exc)
        if after is not None:
            lib.pawl_run_retry_after(run, after)
    except BaseException as fault:
        # What was set until here counts. Without a duration, the policy decides when.
        with contextlib.suppress(BaseException):
            logger.warning("the policy alone decides when an attempt is repeated: %s", type(fault).__name__)
    return status


def set_message(run: Pointer, code: str, message: str) -> None:
    """Stores an error of the binding's own."""
    data = message.encode("utf-8", "replace")
    buffer = ffi.from_buffer(data)
    lib.pawl_run_set_error_text(run, c_text(code), (buffer, len(data)))


def make_config(database: str | None, settings: dict[str, Any]) -> Pointer:
    """Makes the settings of a client or worker."""
    config = ffi.gc(lib.pawl_config_new(), lib.pawl_config_free)
    slot = ffi.new("pawl_error **")
    database = database or os.environ.get("PAWL_DATABASE_URL") or ""
    for name, value in {"database": database, **settings}.items():
        if isinstance(value, bool):
            value = "on" if value else "off"
        check(lib.pawl_config_set(config, c_text(name), c_text(str(value)), slot), slot)
    return config


def version() -> str:
    """The version of the libpawl inside this package."""
    return text(lib.pawl_version_text())
