# SPDX-License-Identifier: Apache-2.0
"""A psql session that is typed into, one block at a time, as a reader would with the page beside the keyboard; and commands."""

import os
import re
import select
import signal
import subprocess
import time

DEADLINE_S = 60 * float(os.environ.get("PAWL_PATIENCE", "1"))
SHELL_DEADLINE_S = 120 * float(os.environ.get("PAWL_PATIENCE", "1"))


class Terminal:
    """One psql process; killed and started again like any other."""

    def __init__(self, database, cwd):
        environment = dict(os.environ, PGDATABASE=database, PSQL_HISTORY="/dev/null")
        command = ["psql", "--no-psqlrc", "--set", "SHOW_CONTEXT=never", "--pset", "pager=off"]
        self.process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.count = 0

    def alive(self):
        return self.process.poll() is None

    def type(self, text):
        """Sends a block and returns all that psql prints for it."""
        self.count += 1
        mark = f"--done-{self.count}--"
        try:
            self.process.stdin.write(f"{text}\n\\echo {mark}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        seen, until = b"", time.monotonic() + DEADLINE_S
        while not seen.endswith(mark.encode() + b"\n"):
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError(f"psql did not answer within {DEADLINE_S} s: {text}")
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                return seen.decode() + ("Killed\n" if self.process.wait() == -9 else "psql has ended\n")
            seen += piece
        return seen.decode()[: -len(mark) - 1]

    def close(self):
        if self.alive():
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()


class Program:
    """Commands of a shell, which may be interrupted when something has happened."""

    def __init__(self, text, cwd, environment):
        self.until = time.monotonic() + SHELL_DEADLINE_S
        self.seen = ""
        # A process group of its own, so that Ctrl-C reaches all that the shell has started. The shell itself stays.
        self.process = subprocess.Popen(
            ["sh", "-ec", f"trap : INT\n{text}\n:"], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip

    def read(self, seconds):
        """Takes what is printed within this time; false at the end of it."""
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return True
        piece = os.read(self.process.stdout.fileno(), 65536)
        self.seen += piece.decode()
        return piece != b""

    def interrupt(self, happened):
        """Presses Ctrl-C as soon as it has happened, or gives up at the deadline or when the program ends by itself."""
        while not happened():
            if not self.read(0.05):
                return
            if time.monotonic() > self.until:
                break
        os.killpg(self.process.pid, signal.SIGINT)

    def finish(self):
        """All that was printed, and the code of the shell."""
        while self.read(max(0.0, self.until - time.monotonic())):
            if time.monotonic() >= self.until:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.seen += f"not finished within {SHELL_DEADLINE_S} s\n"
                self.until += SHELL_DEADLINE_S
        self.process.stdout.close()
        return self.seen, self.process.wait()


def plain(text):
    """Output without what differs from one time to the next: ids, times, counted seconds, widths of columns."""
    text = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(\+\d\d(:?\d\d)?)?", "TIME", text)
    text = re.sub(r"\b\d\d:\d\d:\d\d(\.\d+)?\b", "LENGTH", text)
    text = re.sub(r"\b\d+ s\b", "N s", text)
    text = re.sub(r'("delay_ms" : )\d+', r"\1N", text)
    text = re.sub(r"\bPID \d+", "PID N", text)
    text = re.sub(r"-{3,}", "-", text)
    lines = [re.sub(r"[ \t]+", " ", line).strip() for line in text.split("\n")]
    return "\n".join(line for line in lines if line)
