#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/facts finds each fact broken in a small tree in which it was broken on purpose, and all nine hold where nothing is.
set -uo pipefail
tools=$(cd "$(dirname "$0")/../../../tools" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
number=0
# A hook of git, or git rebase --exec, sets GIT_DIR, which would win over git -C.
unset $(git rev-parse --local-env-vars)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

fresh() {
    rm -rf "$tree" && mkdir -p "$tree"/{tools,src/base,src/libpawl,sql/code,docs,include/pawl}
    cp "$tools/facts" "$tools/english.py" "$tree/tools"
    printf '#!/bin/sh\nexit 0\n' | tee "$tree/tools/check_includes" >"$tree/tools/check_sql"
    chmod +x "$tree"/tools/check_*
    git -C "$tree" init -q
    printf 'PAWL_1 { global: pawl_open; };\n' >"$tree/src/libpawl/libpawl.map"
    printf 'int\npawl_open(void)\n{\n    return helper();\n}\n' >"$tree/src/libpawl/open.c"
    printf '/* Returns 0. */\nint\nhelper(void)\n{\n    return 0;\n}\n' >"$tree/src/base/helper.c"
    printf 'int helper(void);\n' >"$tree/src/base/helper.h"
    printf "create function pawl.f() returns int language sql as \$\$\n    select pawl._g();\n\$\$;\n" >"$tree/sql/code/f.sql"
    printf "create function pawl._g() returns int language sql as \$\$\n    select 1 where status = 'x';\n\$\$;\n" >"$tree/sql/code/g.sql"
    printf 'The worker continues.\n' >"$tree/docs/a.md"
}

# says WHAT TEXT: the facts of the tree have this line.
says() {
    local out
    number=$((number + 1))
    git -C "$tree" add -A
    out=$("$tree/tools/facts" --all)
    if grep -qF -- "$2" <<<"$out"; then
        printf 'ok %d - %s\n' "$number" "$1"
    else
        printf 'not ok %d - %s\n' "$number" "$1"
        sed 's/^/# /' <<<"$out"
    fi
    fresh
}

lines() { seq "$1" | sed 's/.*/    x();/'; }

fresh
says 'all hold' '9 of 9 hold'
for i in {1..41}; do : >"$tree/src/base/$i.h"; done
says 'a folder of 43 files' 'src/base: 43 files'
printf '#!/bin/sh\necho "sql/code/a.sql:3: upward"\nexit 1\n' >"$tree/tools/check_sql"
says 'an SQL call upward' 'sql/code/a.sql:3: upward'
rm "$tree/tools/check_sql"
says 'no check of SQL calls' 'there is no tools/check_sql'
{ printf 'create function pawl.f() returns int language sql as $$\n' && lines 121 && printf '$$;\n'; } >>"$tree/sql/code/f.sql"
says 'an SQL function of 121 lines' 'sql/code/f.sql:4: pawl.f has 121 lines'
{ printf 'int\nhelper(void)\n{\n' && lines 59 && printf '}\n'; } >"$tree/src/base/helper.c"
says 'a C function of 61 lines' 'src/base/helper.c:3: 61 lines'
printf 'Nobody needs it, says `nobody`.\n' >"$tree/docs/a.md"
says 'a flagged word in a page' 'docs/a.md:1: "Nobody"'
printf 'int\nhelper(void)\n{\n    puts("nobody");\n}\n' >"$tree/src/base/helper.c"
says 'a flagged word in a string' 'src/base/helper.c:4: "nobody"'
printf "select 1; -- it''s\nselect 2;\n-- Or not.\n-- Or this, which continues.\n" >>"$tree/sql/code/f.sql"
says 'up to 20 flags of comments are listed' 'holds: at most 20 flagged words in comments: 2'
for _ in {1..21}; do printf '/* What nobody has. */\n'; done >>"$tree/src/base/helper.h"
says 'more than 20 flags in comments' 'BROKEN: at most 20 flagged words in comments: 42'
for test in 'status = 3' 't.place is distinct from 2' 't.place in (1, 2)' 'v_state <> 0' 'kind between 1 and 3' 'least(status, 2)' '3 = s.state' 'case kind when 1' "place = any ('{1,2}')"; do
    printf 'select %s;\n' "$test" >>"$tree/sql/code/f.sql"
    says "a number compared with a state: $test" 'BROKEN: no integer is compared'
done
printf 'int\nlonely(void)\n{\n    return 0;\n}\n' >>"$tree/src/base/helper.c"
says 'a C function that nothing calls' 'src/base/helper.c:8: lonely()'
sed -i 's/pawl._g()/1/' "$tree/sql/code/f.sql"
says 'a private SQL function that nothing calls' 'sql/code/g.sql:1: pawl._g()'
mkdir "$tree/many" && (cd "$tree/many" && seq 2500 | xargs touch)
says 'too many files' 'BROKEN: fewer than 2,500 tracked files'
printf '1..%d\n' "$number"
