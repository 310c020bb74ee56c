# SPDX-License-Identifier: Apache-2.0
"""Reads what an agent says, and stores how far it has come: kill it, start it again, and it continues.

python read.py RUN [FILE]
"""

import json
import os
import sys

import pawl


def store(path: str, state: dict[str, object]) -> None:
    """Replaces the file as a whole: text and cursor belong together."""
    with open(path + ".new", "w") as file:
        json.dump(state, file)
    os.replace(path + ".new", path)


def read(client: pawl.Client, run: str, path: str) -> None:
    state = {"after": 0, "steps": {}}
    if os.path.exists(path):
        with open(path) as file:
            state = json.load(file)
    for note in client.follow(run, after=state["after"]):
        if note.kind == "stream":
            before = "" if note.begins else state["steps"][note.name]
            state["steps"][note.name] = before + note.body
            print("\n" + note.body if note.begins else note.body, end="", flush=True)
        state["after"] = note.note_no
        store(path, state)
    print()


if __name__ == "__main__":
    with pawl.Client() as client:
        read(client, sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else sys.argv[1] + ".json")
