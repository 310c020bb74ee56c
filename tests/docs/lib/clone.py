# SPDX-License-Identifier: Apache-2.0
"""The tree as a reader has it who has just cloned it, and the commands that README.md tells him."""

import re
import shutil
import subprocess

from pages import ROOT


def clone(to):
    """What git would give a reader, with changes that are not committed yet."""
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, listed):
        if (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def commands(block):
    """The commands of a block, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", block.text)
    return [line for line in text.split("\n") if re.sub(r"#.*", "", line).strip()]
