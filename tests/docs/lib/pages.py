# SPDX-License-Identifier: Apache-2.0
"""Reads the Markdown pages of the tree: which there are, their code blocks, their links. Runs nothing."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]


def pages():
    """Every page that people read; docs/templates is the source of other pages."""
    found = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "sql/README.md", "examples/README.md")]
    found += sorted(path for path in (ROOT / "docs").rglob("*.md") if "templates" not in path.parts)
    return [path for path in found if path.exists()]


class Block:
    """One fenced block: its language, its text, its line, and what the comments before it say."""

    def __init__(self, language, line, marks):
        self.language = language
        self.line = line
        self.marks = marks
        self.lines = []
        self.last = line

    @property
    def text(self):
        return "\n".join(self.lines)


def blocks(path):
    """The fenced blocks of a page. A comment <!-- NAME: VALUE --> belongs to the next block."""
    found, marks, block = [], {}, None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if block is not None:
            if line.strip() == "```":
                block.last = number
                found.append(block)
                block = None
            else:
                block.lines.append(line)
            continue
        fence = re.fullmatch(r"```(\w*)", line.strip())
        mark = re.fullmatch(r"<!-- (\w+): (.*?) -->", line.strip())
        if fence:
            block = Block(fence[1], number, marks)
            marks = {}
        elif mark:
            marks[mark[1]] = mark[2]
    if block is not None:
        raise ValueError(f"{path}:{block.line}: a block that does not end")
    return found


def prose(path):
    """(number, line) of what stands outside of fenced blocks."""
    inside = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if line.strip().startswith("```"):
            inside = not inside
        elif not inside:
            yield number, line


def anchors(path):
    """The anchors of a page's headings, made as the usual renderers make them."""
    found = set()
    for _, line in prose(path):
        heading = re.match(r"#+ (.*)", line)
        if heading:
            text = re.sub(r"[^\w\- ]", "", heading[1].strip().lower().replace("`", ""))
            found.add(text.replace(" ", "-"))
    return found
