# SPDX-License-Identifier: Apache-2.0
"""Words and openings that our texts avoid because a reader cannot tell what they mean; tools/check_source and tools/facts use it.

A text is a comment, a string or prose. An exception is marked `english:ok` in its line.
"""

import re

WORDS = re.compile(
    r"\b(?:somebody|nobody|whoever|goes? on|went on|under way|is told|told of|gives? back|given back|comes? to|came to|for good|"
    r"lets? go|puts? off|meanwhile|beside|behind|mended|dealt with|anew|once more|used up|makes? no sense|too much|no bytes|"
    r"belongs? into|without end|in good order|and its like|kin|inside of|outside of|he|his)\b",
    re.IGNORECASE,
)
# "Behind" a proxy is a place and an option, and "came to know" is a verb of its own.
ALLOWED = re.compile(
    r"\bbehind-proxy\b|\bbehind (?:a |the |its |your )?(?:\w+ )?(?:PgBouncer|pooler|proxy|load balancer|firewall)\b|\b(?:replica|standby) is (?:\w+ )?behind\b|"
    r"\bcame to (?:know|be|have|rest)\b",
    re.IGNORECASE,
)
# A comment stands alone: it does not continue another one.
OPENING = re.compile(r"(?:False:|Of |Or |Nor |And |Who |What |As )")
# A command's summary, in the table that help is made of: a verb first, and it fits a line of help.
SUMMARY = re.compile(r'\{\.name = "[^"]+",\s*\.summary = ((?:"(?:\\.|[^"\\])*"\s*)+)')
SUMMARY_MAX = 60
NOT_A_VERB = {"A", "After", "An", "In", "No", "The", "What"}
MARK = "english:ok"
SUFFIXES = (".c", ".h", ".sql", ".md", ".scd")

C_TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
SQL_TOKEN = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)


def c_parts(text):
    """Yields (line, kind, text, opens) of each line of each comment and string of a C file; opens says whether a comment begins there."""
    for match in C_TOKEN.finditer(text):
        kind = "comment" if match[0].startswith("/*") else "string" if match[0].startswith('"') else None
        first = text.count("\n", 0, match.start()) + 1
        opens = kind == "comment"
        for number, line in enumerate(match[0].split("\n") if kind else (), first):
            line = re.sub(r"^\s*(?:/\*|\*/?)?|\*/$", "", line).strip()
            yield number, kind, line, opens
            # A comment of several lines begins with an empty one.
            opens = opens and not line


def sql_parts(text):
    """The same of an SQL file. The body of a function is code, whatever its quotes. Lines of -- that follow each other are one comment."""
    last = None
    for match in SQL_TOKEN.finditer(text):
        kind = "string" if match[0].startswith("'") else "comment"
        first = text.count("\n", 0, match.start()) + 1
        for number, line in enumerate(match[0].split("\n"), first):
            if kind == "comment":
                yield number, kind, line.strip().removeprefix("--").strip(), number == first and last != number - 1
                last = number
            else:
                yield number, kind, line.strip().strip("'"), False


def prose_parts(text):
    """The same of a page: each line, without what stands in backquotes."""
    for number, line in enumerate(text.split("\n"), 1):
        yield number, "prose", re.sub(r"`[^`]*`", "``", line), False


def parts(path, text):
    """Yields (line, kind, text, opens) of what a person reads in a file."""
    if path.suffix in (".c", ".h"):
        yield from c_parts(text)
    elif path.suffix == ".sql":
        yield from sql_parts(text)
    elif path.suffix in (".md", ".scd"):
        yield from prose_parts(text)


def summaries(text):
    """Yields (line, what) for each summary of a command that is too long or does not begin with a verb."""
    for match in SUMMARY.finditer(text):
        summary = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match[1]))
        number = text.count("\n", 0, match.start(1)) + 1
        if len(summary) > SUMMARY_MAX:
            yield number, f"summary of {len(summary)} characters; at most {SUMMARY_MAX}"
        if summary.split()[0] in NOT_A_VERB:
            yield number, f'summary begins with "{summary.split()[0]}", not with a verb'


def chunks(path, text):
    """Yields (line, text) of each paragraph, heading, item, table cell or comment of a file. Code blocks and lists of tests have no sentences."""
    start, depth, held = 1, 0, []

    def done():
        if held:
            yield start, " ".join(held)
        held.clear()

    code = False
    lines = text.split("\n") if path.suffix in (".md", ".scd") else None
    source = enumerate(lines, 1) if lines is not None else ((number, line) for number, kind, line, _ in indented_parts(path, text) if kind == "comment")
    for number, line in source:
        if lines is not None and line.startswith("```"):
            code = not code
        if code or not line.strip() or line.startswith(("```", "<!--", "Tests: ", "|--")):
            yield from done()
        elif lines is not None and line.startswith("|"):
            yield from done()
            yield from ((number, cell.strip()) for cell in line.strip("|").split(" | ") if not cell.strip().startswith("`tests/"))
        else:
            indent = len(line) - len(line.lstrip())
            if re.match(r"\s*(?:[-*#>]|\d+\.) ", line) or lines is None and (indent != depth or re.search(r"\S {3,}\S", line)):
                yield from done()
            if not held:
                start, depth = number, indent
            held.append(line.strip())
    yield from done()


def indented_parts(path, text):
    """Comments as parts() has them, but with their indentation, and an empty line between two of them."""
    if path.suffix in (".c", ".h"):
        for match in C_TOKEN.finditer(text):
            if match[0].startswith("/*"):
                first = text.count("\n", 0, match.start()) + 1
                for number, line in enumerate(match[0].split("\n"), first):
                    yield number, "comment", re.sub(r"^\s*(?:/\* ?|\*/| \* ?)|\s*\*/$", "", line), False
                yield first, "comment", "", False
    else:
        last = 0
        for number, kind, line, opens in parts(path, text):
            if number != last + 1 or opens:
                yield number, kind, "", False
            yield number, kind, line, opens
            last = number


def long_sentences(path, text, most):
    """Yields (line, words, sentence) of each sentence with more words than that. What is in backquotes is one word, and so is a link's address."""
    for number, chunk in chunks(path, text):
        chunk = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "x", chunk))
        for sentence in re.split(r"(?<=[.!?])[*_)\"]*\s+", chunk):
            words = sum(1 for word in sentence.split() if re.search(r"\w", word))
            if words > most:
                yield number, words, sentence


def flags(path, text):
    """Yields (line, kind, what) for each flag of a file."""
    marked = {number for number, line in enumerate(text.split("\n"), 1) if MARK in line}
    for number, kind, line, opens in parts(path, text):
        if number in marked:
            continue
        for word in WORDS.findall(ALLOWED.sub("", line)):
            yield number, kind, f'"{word}"'
        if opens and OPENING.match(line):
            yield number, kind, f'begins with "{line.split()[0]}"'
        if kind == "comment" and path.suffix == ".sql" and re.search(r"\w''\w", line):
            yield number, kind, "has a doubled apostrophe"
    if path.suffix == ".c" and path.parts[:2] == ("src", "cli"):
        for number, what in summaries(text):
            yield number, "string", what
