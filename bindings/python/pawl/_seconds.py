# SPDX-License-Identifier: Apache-2.0
"""Durations: what every call takes, and what the library and the engine count in."""

from __future__ import annotations

import datetime

Seconds = float | datetime.timedelta

MILLIS_MAX = 10**14  # more than 3,000 years; a larger number may not fit into the types of the library


def milliseconds(value: Seconds) -> int:
    """A duration in milliseconds."""
    seconds = value.total_seconds() if isinstance(value, datetime.timedelta) else value
    found = round(seconds * 1000)
    if abs(found) > MILLIS_MAX:
        raise OverflowError("a duration of more than 3,000 years")
    return found
