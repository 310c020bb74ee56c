#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# src/cli/report/privilege.c has the same functions in the same privilege sets as sql/code/ground/grants.sql, but for private ones.
exec python3 - "$(dirname "$0")/../../.." <<'PY'
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
engine = (root / "sql/code/ground/grants.sql").read_text()
engine = engine[engine.index("function pawl._functions_of("):]
sql = {name: set(re.findall(r"'([a-z]\w*)'", verbs)) for name, verbs in re.findall(r"when '(\w+)' then array\[(.*?)\]", engine, re.S)}
sql["common"] = set(re.findall(r"'(\w+)'", re.search(r"return array\[(.*?)\]", engine, re.S)[1]))
sql["gateway"] = set(re.findall(r"\|\| '(\w+)'::text;", engine))
command = (root / "src/cli/report/privilege.c").read_text()
text = r'((?:"[^"]*"\s*)+)'
c = {name: set(re.sub(r'"\s*"', "", verbs).strip('" \n').split()) for name, verbs in re.findall(r'\{"(\w+)",\s*' + text + r"\}", command)}
c["common"] = set(re.search(r'common_verbs\[\] = "([^"]*)"', command)[1].split())
failed = 0
for number, name in enumerate(sorted(sql | c), 1):
    differs = sql.get(name, set()) ^ c.get(name, set())
    failed += bool(differs)
    print(f"{'not ok' if differs else 'ok'} {number} - {name} is the same" + (f" but for {sorted(differs)}" if differs else ""))
print(f"1..{len(sql | c)}")
sys.exit(1 if failed or not sql else 0)
PY
