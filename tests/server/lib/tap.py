# SPDX-License-Identifier: Apache-2.0
"""Checks that print TAP, and waits for conditions. PAWL_PATIENCE multiplies every limit that finds hangs."""

import atexit
import os
import sys
import time

PATIENCE = int(os.environ.get("PAWL_PATIENCE", "1"))
FULL = "--full" in sys.argv[1:] or os.environ.get("PAWL_FULL") == "1"

number = 0
bad = 0
planned = False
finals = []  # called before the last line

def ok(passed, what, detail=""):
    global number, bad
    number += 1
    bad += not passed
    print(f"{'ok' if passed else 'not ok'} {number} - {what}")
    for line in str(detail).splitlines() if not passed else []:
        print(f"#   {line}")
    sys.stdout.flush()
    return bool(passed)


def equal(got, wanted, what):
    return ok(got == wanted, what, f"got: {got!r}\nexpected: {wanted!r}")


def empty(found, what):
    """Passes if the list of what is wrong has nothing; shows the first twenty."""
    return ok(not found, what, "\n".join(str(each) for each in found[:20]) + (f"\n... {len(found)} in all" if len(found) > 20 else ""))


def note(text):
    print(f"# {text}", flush=True)


def limit(seconds):
    return time.monotonic() + seconds * PATIENCE


def until(what, condition, seconds=60):
    """Waits for a condition and returns its value. A test that waits in vain ends here."""
    end = limit(seconds)
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            ok(False, f"in time: {what}")
            done()
        time.sleep(0.02)


def skip(why, code=0):
    """Ends the test. 77: what is missing is a mistake where the suite is counted; 0: it is not."""
    global planned
    planned = True
    print(f"1..0 # SKIP {why}")
    sys.exit(code)


def done():
    global planned
    planned = True
    while finals:
        finals.pop()()
    print(f"1..{number}", flush=True)
    sys.exit(1 if bad or not number else 0)


def ended_early():
    if not planned:
        print("Bail out! the test ended before its last line", flush=True)


atexit.register(ended_early)
