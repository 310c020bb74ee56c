# SPDX-License-Identifier: Apache-2.0
"""Guards of C: a source without its guard is compiled to one object, which a test's program is linked with before the archives.

A linker takes what it finds first, so the archive's own object is left out and nothing else is built. No file of the source tree or
of the build directory is written.
"""

import json
import os
import pathlib
import re
import shlex
import subprocess

FOLDERS = ("src/base", "src/pg", "src/libpawl", "src/cli")
COMMAND = "src/cli/pawl"
# Without its guard a test may wait until its limit, so these limits are the short ones. A slow machine can only make such a test red, which is expected.
IMPATIENT = {"PAWL_PATIENCE": "1"}


class Problem(Exception):
    """The list does not fit the sources; the text says where."""


def read_guards(root):
    """Returns {name: (path, where the tag stands)}."""
    guards = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.c")):
            for tag in re.finditer(r"/\* guard:([a-z0-9_]+) \*/", path.read_text()):
                if tag[1] in guards:
                    raise Problem(f'{path.name}: guard "{tag[1]}" stands twice')
                guards[tag[1]] = (path, tag.start())
    return guards


def program_of(test):
    """The program, in the build directory, that a test of this kind is linked with the mutant into."""
    kind, name = test[0], test[1]
    return {"unit": f"tests/unit_{name}", "integration": f"tests/integration_{name}", "fuzz": f"tests/fuzz_{name}", "cli": COMMAND}[kind]


def run_build(words, build, what):
    """Runs a compiler; what it says is a problem."""
    done = subprocess.run(words, cwd=build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Problem(f"{what}: {done.stdout[-2000:]}")
    return done.stdout


def make_program(build, path, text, test, directory):
    """Compiles the text in place of the file, links a test's program with it, and returns that program."""
    directory.mkdir()
    source, made = directory / path.name, directory / "mutant.o"
    source.write_text(text)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if (pathlib.Path(entry["directory"]) / entry["file"]).resolve() == path.resolve() and ".so.p" not in entry["output"]:
            break
    else:
        raise Problem(f'"{path}" is not compiled')
    words = shlex.split(entry["command"])
    for option in ("-MQ", "-MF"):
        at = words.index(option)
        del words[at : at + 2]
    # Without a guard a variable may be left that nobody uses.
    words = [word for word in words if word not in ("-MD", "-Werror")] + ["-w", "-iquote", str(path.parent)]
    words[words.index("-o") + 1] = str(made)
    words[words.index("-c") + 1] = str(source)
    run_build(words, build, "the mutant does not compile")
    target = program_of(test)
    link = shlex.split(run_build(["ninja", "-t", "commands", target], build, "ninja").splitlines()[-1])
    program = directory / pathlib.Path(target).name
    at = link.index("-o") + 1
    link[at : at + 1] = [str(program), str(made)]
    run_build(link, build, "the mutant does not link")
    return program


def run_test(root, build, test, program, limit_s):
    """Runs a test with its own program, or with that of a mutant; returns (whether it passed, what it printed)."""
    kind, name = test[0], test[1]
    impatient = IMPATIENT if program else {}
    program = program or build / program_of(test)
    environment = dict(os.environ, PAWL_SUITE=kind, PAWL_BUILD=str(build), CMOCKA_MESSAGE_OUTPUT="TAP", PAWL_COMMAND=str(program), **impatient)
    database = [root / "tests/harness/with_database"]
    command = {
        "unit": [program],
        "fuzz": [program, root / f"tests/fuzz/corpus/{name}.txt"],
        "integration": database + [program],
        "cli": database + [root / "tests/cli" / name],
    }[kind]
    # A group of its own: a mutant may leave processes behind.
    running = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = running.communicate(timeout=limit_s)
        text = output.decode(errors="replace")
        return running.returncode == 0 and "\nnot ok" not in f"\n{text}", text
    except subprocess.TimeoutExpired:
        return False, f"no end after {limit_s} s"
    finally:
        try:
            os.killpg(running.pid, 9)
        except ProcessLookupError:
            pass
        running.wait()
