#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The proxy as scripts use it: around a command, and in the background with a pipe for its orders.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
need_database harness

proxy=$build/tests/proxy
dir=$(mktemp -d "${TMPDIR:-/tmp}/pawl-proxy-test.XXXXXX") || exit 1
background=
clean_up() {
    [ -z "$background" ] || { kill -TERM "$background" 2>/dev/null; wait "$background"; }
    rm -rf "$dir"
}
trap clean_up EXIT

checks=0
failed=0
ok() {
    local text=$1
    shift
    checks=$((checks + 1))
    if "$@"; then
        printf 'ok %d - %s\n' "$checks" "$text"
    else
        printf 'not ok %d - %s\n' "$checks" "$text"
        failed=$((failed + 1))
    fi
}

# Waits until a file is there, for ten seconds at most.
await() {
    local try
    for ((try = 0; try < 1000; try++)); do
        [ ! -e "$1" ] || return 0
        sleep 0.01
    done
    return 1
}

ask() {
    psql --no-psqlrc --quiet --no-align --tuples-only "$@" 2>/dev/null
}

is() {
    [ "$1" = "$2" ] || { printf '# "%s" is not "%s"\n' "$1" "$2"; return 1; }
}

fails() {
    ! "$@"
}

ask -c 'create table t (n int)' || exit 1

ok 'a command runs behind the proxy, and its exit code is handed on' \
    is "$("$proxy" sh -c 'psql -XAtc "select 1"; test "$PGPORT" != "$PAWL_DIRECT_PGPORT" && exit 7'; printf '%d' $?)" $'1\n7'
# Others use this server too, so it takes a port that none of them would get.
"$proxy" --port 30001 test -S "$PGHOST/.s.PGSQL.30001"
ok 'without a place of its own it listens beside the server' is $? 0
ok 'and leaves nothing there' fails test -e "$PGHOST/.s.PGSQL.30001"
ok 'a cut after a request that an option asks for' \
    fails "$proxy" --do 'cut after insert nth 1' psql -XAtqc 'insert into t values (1)' 2>/dev/null
ok 'leaves the row' is "$(ask -c 'select count(*) from t')" 1
ok 'a cut before it' \
    fails "$proxy" --do 'cut before insert' psql -XAtqc 'insert into t values (2)' 2>/dev/null
ok 'leaves none' is "$(ask -c 'select count(*) from t')" 1

"$proxy" --listen "$dir" --port 7777 --control "$dir/control" --seed 5 &
background=$!
ok 'it is ready when its pipe is there' await "$dir/control"
ok 'clients reach it at the place that was asked for' is "$(ask -h "$dir" -p 7777 -c 'select 1')" 1
printf 'cut before select one_in 1 most 1\n' >"$dir/control"
printf 'counts %s\n' "$dir/first" >"$dir/control"
await "$dir/first"
ok 'a rule that the pipe brings holds' fails ask -h "$dir" -p 7777 -c 'select 1'
ok 'as often as it says' is "$(ask -h "$dir" -p 7777 -c 'select 1')" 1
printf 'counts %s\n' "$dir/second" >"$dir/control"
ok 'its counts can be read' await "$dir/second"
ok 'and tell of the cut' grep -qx 'cuts_before 1' "$dir/second"
printf 'refuse\ncounts %s\n' "$dir/third" >"$dir/control"
await "$dir/third"
ok 'it refuses connections when it is told to' fails ask -h "$dir" -p 7777 -c 'select 1'
printf 'quit\n' >"$dir/control"
wait "$background"
code=$?
background=
ok 'it ends when it is told to' is "$code" 0
ok 'and takes its socket and its pipe away' fails test -e "$dir/.s.PGSQL.7777" -o -e "$dir/control"
printf '1..%d\n' "$checks"
[ "$failed" -eq 0 ]
