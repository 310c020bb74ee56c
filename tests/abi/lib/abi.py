# SPDX-License-Identifier: Apache-2.0
"""What the tests of the library's outside share: where things are, TAP, and a reader of the public headers."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("PAWL_BUILD", ROOT / "build"))
INCLUDE = ROOT / "include"
HEADERS = sorted((INCLUDE / "pawl").glob("*.h"))
MAP = ROOT / "src" / "libpawl" / "libpawl.map"

# A program made by an instrumented build needs its runtime, which has symbols and data of its own.
INSTRUMENTED = re.compile(r"^_*(asan|ubsan|tsan|lsan|sanitizer|gcov|gcc_personality|odr_asan)|^libclang_rt|^lib[aut]b?san")


class Tap:
    """Counts checks. done() says whether all were good, in the way that a test harness understands."""

    def __init__(self):
        self.count = 0
        self.bad = 0

    def check(self, good, name, detail=""):
        self.count += 1
        self.bad += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}")
        if not good:
            for line in str(detail).splitlines()[:60]:
                print(f"# {line}")
        return good

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}")

    def same(self, one, other, name, one_is, other_is):
        """Two sets of names are equal; if not, which names only one of them has."""
        detail = "\n".join(
            [f"only in {one_is}: {entry}" for entry in sorted(set(one) - set(other))]
            + [f"only in {other_is}: {entry}" for entry in sorted(set(other) - set(one))]
        )
        return self.check(set(one) == set(other), name, detail)

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.bad else 0)


def run(*command, **options):
    """Runs a command; returns its exit code and all that it printed."""
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options
    )
    return done.returncode, done.stdout


def output(*command, **options):
    """What a command prints; it must succeed."""
    return subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, text=True, check=True, **options
    ).stdout


def scratch():
    return tempfile.TemporaryDirectory(prefix="pawl-abi-")


def library():
    """The shared library as it was built."""
    found = [path for path in (BUILD / "src" / "libpawl").glob("libpawl.so*") if path.is_file() and not path.is_symlink()]
    found = [path for path in found if not path.name.endswith((".p", ".symbols"))]
    if len(found) != 1:
        sys.exit(f"no libpawl.so in {BUILD}: run meson compile")
    return found[0]


def is_instrumented():
    symbols = output("nm", "-D", "--undefined-only", library())
    return any(INSTRUMENTED.match(line.split()[-1]) for line in symbols.splitlines() if line.split())


def has_assertions():
    """Whether this build has them: one for development does, a release does not."""
    options = {entry["name"]: entry["value"] for entry in json.loads(output("meson", "introspect", BUILD, "--buildoptions"))}
    released = options["b_ndebug"] == "if-release" and options["buildtype"] in ("release", "plain")
    return options["b_ndebug"] != "true" and not released


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def functions_in(text):
    """Names of the functions that a piece of a header declares as part of the interface, in its order."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", without_comments(text), flags=re.MULTILINE)
    return re.findall(r"\bPAWL_API\b[^;{]*?\b(\w+)\s*\(", text)


def declared_functions(header):
    return functions_in(header.read_text())


def declared_macros(header):
    """Names of macros with arguments that stand for a function."""
    return re.findall(r"^#define (pawl_\w+)\(", header.read_text(), flags=re.MULTILINE)
