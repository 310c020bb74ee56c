# SPDX-License-Identifier: Apache-2.0
"""A session of PostgreSQL through a psql process, which may be killed at any moment."""

import json
import os
import re
import signal
import subprocess

END = "--end of the answer--"


class Lost(Exception):
    """The process or the connection is gone; nobody knows whether the last statement was done."""


class SqlError(Exception):
    """The server refused the statement."""

    def __init__(self, text):
        super().__init__(text)
        found = re.search(r"(?:ERROR|FATAL):\s+([0-9A-Z]{5}):", text)
        self.code = found.group(1) if found else ""


class Psql:
    def __init__(self, name="test"):
        self.process = subprocess.Popen(
            ["psql", "-XqAt", "-v", "VERBOSITY=verbose", "-v", "SHOW_CONTEXT=always"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
            env={**os.environ, "PGAPPNAME": name},
        )

    def run(self, sql):
        """The lines that the statements answer with."""
        lines = []
        try:
            self.process.stdin.write(f"{sql};\n\\echo {END}\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                line = line.rstrip("\n")
                if line == END:
                    break
                lines.append(line)
            else:
                raise Lost()
        except (BrokenPipeError, ValueError) as e:
            raise Lost() from e
        text = "\n".join(lines)
        if re.search(r"^FATAL: |^connection to server was lost|^server closed the connection", text, re.M):
            raise Lost()
        if re.search(r"^ERROR: ", text, re.M):
            raise SqlError(text)
        return lines

    def rows(self, query):
        """The rows of one query, each as a dictionary."""
        return [json.loads(line) for line in self.run(f"select to_jsonb(q) from ({query}) q")]

    def value(self, query):
        lines = self.run(query)
        return lines[0] if lines else None

    def kill(self):
        self.process.send_signal(signal.SIGKILL)

    def close(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass


def text(value):
    """A literal; None is null."""
    return "null" if value is None else "'" + str(value).replace("'", "''") + "'"


def array(values, kind):
    return "array[" + ", ".join(text(v) for v in values) + f"]::{kind}[]"
