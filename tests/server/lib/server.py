# SPDX-License-Identifier: Apache-2.0
"""Starts pawl-serve on a free port with a login that is a gateway and nothing else, and ends it with the test."""

import atexit
import os
import pathlib
import re
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time

from call import Client
from engine import create_token, psql, quoted, sql
from tap import PATIENCE, empty, finals, skip

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("PAWL_BUILD", ROOT / "build"))
SERVE = pathlib.Path(os.environ.get("PAWL_SERVE", BUILD / "src/server/pawl-serve"))
LIMIT = 60 * PATIENCE

if not os.environ.get("PGHOST"):
    skip("needs a database: run tools/pg_tmp meson test -C build --suite server", 77)
if not SERVE.exists():
    skip("pawl-serve is not built", 77)

work = tempfile.TemporaryDirectory(prefix="pawl-server-")
login = f"gateway_{os.getpid()}_{secrets.token_hex(3)}"
servers = []


def make_login():
    """Roles belong to the whole cluster, and other tests run at the same time: hence the name."""
    sql(f"create role {login} login; select pawl.grant_role({quoted(login)}, 'gateway')")


def conninfo(**more):
    fields = {"host": os.environ["PGHOST"], "port": os.environ["PGPORT"], "dbname": os.environ["PGDATABASE"], "user": login, **more}
    return " ".join(f"{name}={value}" for name, value in fields.items())


class Server:
    """One process. Its port stays the same when it is started again, as behind a proxy."""

    def __init__(self, *options, database=None, start=True):
        if not servers:
            make_login()
        self.options = options
        self.database = database
        self.port = 0
        self.process = None
        self.log = pathlib.Path(work.name, f"server-{len(servers)}.log")
        servers.append(self)
        if start:
            self.start()

    def start(self):
        command = [str(SERVE), "--listen", f"127.0.0.1:{self.port}", "-d", self.database or conninfo(), *self.options]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        line = self.first_line()
        found = re.fullmatch(r"pawl-serve listens on http://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            raise AssertionError(f"pawl-serve said {line!r}\n{self.log.read_text()[-4000:]}")
        self.port = int(found[1])

    def first_line(self):
        seen, end = b"", time.monotonic() + LIMIT
        while not seen.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                break
            piece = os.read(self.process.stdout.fileno(), 1)
            if not piece:
                break
            seen += piece
        return seen.decode()

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def client(self, token=None, **more):
        return Client(self.port, token, **more)

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)

    def wait(self):
        """Waits for its end and returns the exit code."""
        code = self.process.wait(LIMIT)
        self.process.stdout.close()
        return code

    def stop(self):
        if self.process and self.process.poll() is None:
            self.kill(signal.SIGTERM)
            return self.wait()
        return None

    def connections(self):
        """How many connections of clients the process has."""
        count = 0
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            fields = line.split()
            # Its end of a connection that it has not closed: its port, not the socket that listens, and a descriptor.
            count += fields[1].endswith(f":{self.port:04X}") and fields[3] != "0A" and fields[9] != "0"
        return count

    def memory_kb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def end_all():
    """Ends what is left, and says what was wrong with each server: how it ended, and what the compiler's checkers found."""
    wrong = []
    for server in servers:
        process = server.process
        if process and process.poll() is None:
            process.terminate()
            try:
                if process.wait(30 * PATIENCE) != 0:
                    wrong.append(f"{server.log.name}: exit code {process.returncode}")
            except subprocess.TimeoutExpired:
                wrong.append(f"{server.log.name}: did not end within its time")
                process.kill()
                process.wait()
        text = server.log.read_text(errors="replace") if server.log.exists() else ""
        found = re.search(r"[^\n]*(Sanitizer|runtime error:|Assertion)", text)
        if found:
            wrong.append(text[found.start() :][:6000])
    if servers:
        psql(f"drop owned by {login}; drop role {login}")
    servers.clear()
    return wrong


finals.append(lambda: empty(end_all(), "servers that are left end well, and the compiler's checkers have nothing to report"))
atexit.register(end_all)


def instrumented():
    """With the compiler's checkers the program has more memory than people see."""
    return b"__asan_init" in SERVE.read_bytes()


def everything():
    """A token with all rights, of no tenant."""
    return create_token(f"all-{secrets.token_hex(4)}", ("producer", "operator", "reader"))
