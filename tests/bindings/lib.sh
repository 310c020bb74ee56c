# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of this suite; sourced, not run. with_database has made a database with pawl in it.

# shellcheck shell=bash
lines=$PAWL_BUILD/bindings
mkdir -p "$lines"

# The template has the test clock, which runs until it is set.
stop_clock() { psql --no-psqlrc --quiet --output /dev/null --set ON_ERROR_STOP=1 --command 'select pawl.test_clock_set(clock_timestamp())'; }

# play NAME PLAYER...: plays all scenarios. What the player printed stays in NAME.txt; lines of failed ones are shown.
play() {
    local name=$1 code=0
    shift
    stop_clock
    "$@" bindings/scenarios/*.json >"$lines/$name.txt" || code=$?
    grep -v $'\tok\t' "$lines/$name.txt" || true
    printf '%s: %d of %d scenarios passed\n' "$name" "$(grep -c $'\tok\t' "$lines/$name.txt")" "$(wc -l <"$lines/$name.txt")"
    return "$code"
}

# play_wrong NAME PLAYER...: plays scenarios with planted mistakes, of which each must fail.
play_wrong() {
    local name=$1
    shift
    stop_clock
    bindings/scenarios/wrong "$lines/wrong_$name.json"
    ! "$@" "$lines/wrong_$name.json" >"$lines/wrong_$name.txt" || return 1
    bindings/scenarios/wrong "$lines/wrong_$name.json" "$lines/wrong_$name.txt"
}
