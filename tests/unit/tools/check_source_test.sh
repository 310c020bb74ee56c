#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/check_source finds each thing it says it finds, in a tree made here, and nothing in a clean file.
set -uo pipefail
tools=$(cd "$(dirname "$0")/../../../tools" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
spdx='SPDX-License-Identifier: Apache-2.0'
number=0

# finds PATH CONTENT MESSAGE: with this file alone in the tree the checker fails, and says so at the right place.
# An empty message means that it must find nothing.
finds() {
    local out code=0
    number=$((number + 1))
    mkdir -p "$tree/$(dirname "$1")"
    printf '%b' "$2" >"$tree/$1"
    out=$("$tools/check_source" "$tree") || code=$?
    rm "$tree/$1"
    if [ -z "$3" ] && [ "$code" -eq 0 ]; then
        printf 'ok %d - passes %s\n' "$number" "$1"
    elif [ -n "$3" ] && [ "$code" -eq 1 ] && grep -qF "$1:$3" <<<"$out"; then
        printf 'ok %d - finds "%s"\n' "$number" "$3"
    else
        printf 'not ok %d - %s: %s\n' "$number" "$1" "${3:-nothing to find}"
        sed 's/^/# /' <<<"$out"
    fi
}

c="/* $spdx */\n"
finds src/base/a.c "${c}static const int limit = 3;\nint\nf(void)\n{\n    return limit; /* strcpy(a, b) // */\n}\n" ''
finds src/base/a.c "int x(void);\n" '1: no "SPDX'
finds src/base/a.c "${c}\treturn;\n" '2: tab'
finds src/base/a.c "${c}int f(void); \n" '2: blanks at the end'
finds src/base/a.c "${c}int f(void);" '2: no newline'
finds src/base/a.c "${c}    strcpy(a, b);\n" '2: strcpy'
finds src/base/a.c "${c}    n = sprintf (a, b);\n" '2: sprintf'
finds src/base/a.c "${c}    n = atoi(a);\n" '2: atoi'
finds src/base/a.c "${c}    n = strtol(a, NULL, 10);\n" '2: strtol'
finds src/base/text.c "${c}    n = strtol(a, NULL, 10);\n" ''
finds src/base/a.c "${c}    puts(strerror(errno));\n" '2: strerror'
finds src/base/a.c "${c}    snprintf(a, 3, \"sprintf(\"); strerror_r(1, a, 3);\n" ''
finds src/base/a.c "${c}int f(void); // no\n" '2: comment with //'
finds src/base/a.c "${c}static volatile sig_atomic_t flag;\n" ''
finds src/base/a.c "${c}static int counter;\n" '2: data at file scope'
finds src/base/a.c "${c}static const char *name = \"a\";\n" '2: data at file scope'
finds src/base/a.c "${c}int counter = 3;\n" '2: data at file scope'
finds src/base/a.c "${c}static const char *const names[] = {\"a\"};\n" ''
finds src/base/a.c "${c}struct a {\n    int counter;\n};\ntypedef struct a a;\nstruct b;\n" ''
finds src/cli/main.c "${c}static int counter;\n" ''
finds src/base/a.c "${c}/* TO""DO later */\n" '2: unfinished work'
finds src/base/a.c "${c}/* TO""DO #12: later */\n" ''
finds docs/a.md "see /wor""k/main\n" '1: path of one machine'
finds docs/a.md "from registry.npm""js.org\n" '1: host of a package registry'
finds src/base/a.c "$c$(for _ in {1..1250}; do printf 'int f(void);\\n'; done)" '1: 1251 lines'
finds src/base/a.c "${c}void\nf(void)\n{\n$(for _ in {1..125}; do printf '    g();\\n'; done)}\n" '4: function of 127 lines'

s="-- $spdx\n"
head='create function pawl.f() returns int\nlanguage sql\nsecurity definer\n'
finds sql/code/a.sql "$s${head}set search_path to pg_catalog, pg_temp\nas \$\$ select 1 \$\$;\n" ''
finds sql/code/a.sql "$s${head}as \$\$ select 1 \$\$;\n" '4: security definer without'
finds sql/code/a.sql "${s}SELECT 1;\n" '2: keyword "SELECT" in upper case'
finds sql/code/a.sql "${s}select 'SELECT'; -- SELECT\n" ''
finds sql/code/a.sql "${s}select 1;\n\n\n\n    execute v_sql;\n" '6: dynamic SQL without a comment'
finds sql/code/a.sql "${s}\n\n    -- The name of a partition is no parameter.\n    execute v_sql;\n" ''
finds sql/code/a.sql "${s}\n\n\n\ngrant\n    execute on function f() to a;\n" ''
mkdir -p "$tree/sql/code"
printf 'sql/code/hot.sql\n' >"$tree/sql/hot"
sed -i "1i # $spdx" "$tree/sql/hot"
finds sql/code/hot.sql "${s}begin\nexception when others then\n" '3: exception block in a hot file'
finds sql/code/hot.sql "${s}raise exception 'no';\n" ''

rm "$tree/sql/hot"
finds docs/plain.md 'The worker continues.\n' ''
finds docs/plain.md 'Then it goes on.\n' '1: prose: "goes on"'
finds docs/plain.md 'Call `goes_on` behind PgBouncer, and `nobody` is a role.\n' ''
finds docs/plain.md 'Then it goes on. <!-- english:ok -->\n' ''
finds tests/other.md 'Then it goes on.\n' ''
finds src/base/plain.c "${c}/* Nobody waits. */\n" '2: comment: "Nobody"'
finds src/base/plain.c "${c}/*\n * Of two runs the older. */\n" '3: comment: begins with "Of"'
finds src/base/plain.c "${c}/* One. */\n/* Or two. */\n" '3: comment: begins with "Or"'
finds src/base/plain.c "${c}void f(void) { g(\"came to\"); }\n" '2: string: "came to"'
finds src/base/plain.c "${c}int behind(void);\n" ''
finds src/cli/plain.c "${c}const struct command a[] = {\n    {.name = \"a b\",\n        .summary = \"After a failover\"},\n};\n" '4: string: summary begins with "After"'
finds src/cli/plain.c "${c}const struct command a[] = {\n    {.name = \"a\", .summary = \"Show all that there is to know \"\n\"of a run, with its steps and waits\"},\n};\n" '3: string: summary of 65'
finds src/cli/plain.c "${c}const struct command a[] = {\n    {.name = \"a\", .summary = \"Show a run\"},\n};\n" ''
finds sql/code/plain.sql "${s}\nselect 1; -- it''s here\n" '3: comment: has a doubled apostrophe'
finds sql/code/plain.sql "${s}\n-- One or two,\n-- Or three.\nselect 'it''s';\n" ''
printf '1..%d\n' "$number"
