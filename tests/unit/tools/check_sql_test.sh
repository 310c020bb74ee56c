#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/check_sql lets calls downward and through doors pass and finds every other one, in a tree made here.
set -uo pipefail
tools=$(cd "$(dirname "$0")/../../../tools" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
number=0

# make_function FILE NAME BODY: a function of that body, alone in its file.
make_function() {
    mkdir -p "$tree/sql/code/$(dirname "$1")"
    printf 'create or replace function pawl.%s()\nreturns void\nas $$\nbegin\n%s\nend\n$$;\n' "$2" "$3" >"$tree/sql/code/$1"
}

# expect CODE WHAT [LINE]: what the checker exits with, and a line that it prints.
expect() {
    local code=0 out
    number=$((number + 1))
    out=$("$tools/check_sql" "$tree") || code=$?
    [ "$code" -eq "$1" ] && [[ $out == *"${3-}"* ]] || printf 'not '
    printf 'ok %d - %s\n' "$number" "$2"
}

make_function ground/clock.sql now ''
make_function run/end.sql _end_run 'perform pawl.now();'
make_function flow/doors.sql _finish_task 'perform pawl._end_run();'
make_function flow/end.sql _let_end ''
expect 0 'calls downward pass'
make_function run/end.sql _end_run 'perform pawl._finish_task();'
expect 0 'so do calls of doors'
make_function run/end.sql _end_run $'\nperform pawl._let_end();'
expect 1 'a call of another function of a higher room is found' 'sql/code/run/end.sql:6: _end_run calls _let_end of the higher room flow'
make_function run/end.sql _end_run $'-- pawl._let_end()\nraise \'pawl._let_end()\';'
expect 0 'comments and texts are no calls'
make_function run/end.sql _end_run "$(printf "null;\n%.0s" {1..130})"
expect 1 'a long function is found' '_end_run has'
make_function run/end.sql _end_run ''
mkdir -p "$tree/sql/code/record"
printf 'create or replace function pawl._b()\nreturns int\nlanguage sql\nreturn pawl._let_end();\n' >"$tree/sql/code/record/b.sql"
expect 1 'a call in a parsed body is found' '_b calls _let_end of the higher room flow'
rm "$tree/sql/code/record/b.sql"
make_function cellar/a.sql _a ''
expect 1 'a room that is not in the list is found' '_a is in no room'
printf '1..%d\n' "$number"
