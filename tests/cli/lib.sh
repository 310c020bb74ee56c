# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of this folder; sourced, not run. Calls of the command, TAP lines, terminals of a given width.

# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../harness/lib.sh"
need_database cli

pawl_program=${PAWL_COMMAND:-$build/src/cli/pawl}
work=$(mktemp -d)
number=0
bad=0
# A leak or a wild pointer that the compiler's checkers find fails the test, in whichever of its processes: not all exit codes are looked at.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$work/report
finish() {
    local code=$?
    if cat "$work"/report.* >&2 2>/dev/null; then ok 1 'the checkers have nothing to report'; fi
    [ -z "${worker:-}" ] || kill "$worker" 2>/dev/null
    [ ! -e "$work/tmux" ] || tmux -S "$work/tmux" kill-server 2>/dev/null
    rm -rf "$work"
    [ "$code" = 0 ] || exit "$code"
    printf '1..%d\n' "$number"
    [ "$bad" = 0 ] || exit 1
}
trap finish EXIT
export TZ=UTC PGTZ=UTC
unset PAWL_DATABASE_URL

ok() {
    number=$((number + 1))
    [ "$1" = 0 ] || bad=$((bad + 1))
    printf '%s %d - %s\n' "$([ "$1" = 0 ] && printf ok || printf 'not ok')" "$number" "$2"
}
# in_time BAD WHAT: a bound in time. It is a check where PAWL_TIMES=gate, as the full size has it; else a late one is a warning,
# because this may be a slow machine.
in_time() {
    if [ "$1" = 0 ] || [ "${PAWL_TIMES:-}" = gate ]; then ok "$1" "$2"; else
        ok 0 "$2"
        printf '# warning: check %d is late\n' "$number"
    fi
}
is() {
    if [ "$1" = "$2" ]; then ok 0 "$3"; else
        ok 1 "$3"
        printf '# got:\n%s\n# expected:\n%s\n' "$1" "$2" | sed 's/^\([^#]\)/#   \1/'
    fi
}
like() {
    if [[ $1 =~ $2 ]]; then ok 0 "$3"; else
        ok 1 "$3"
        printf '# got:\n%s\n# expected something like:\n%s\n' "$1" "$2" | sed 's/^\([^#]\)/#   \1/'
    fi
}

# With the compiler's checkers, programs are larger and slower than people have them.
instrumented() { grep -q __asan_init "$pawl_program"; }

# pawl ARGUMENT...: stdout goes to $out, stderr to $err, the exit code to $code.
pawl() {
    code=0
    "$pawl_program" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
}
# The widest line of a text.
widest() { LC_ALL=C.UTF-8 wc -L <<<"$1"; }
# until_true WHAT COMMAND...: waits for a command to succeed, for a minute (PAWL_PATIENCE multiplies it); then the test ends here.
until_true() {
    local what=$1
    shift
    for _ in $(seq $((1200 * ${PAWL_PATIENCE:-1}))); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.05
    done
    ok 1 "in time: $what"
    sed 's/^/# /' "$work/worker.err" 2>/dev/null
    exit 1
}
# taken PID: whether a process has taken the SIGTERM that was sent to it; two that still wait are one.
taken() {
    local waiting
    for waiting in $(sed -nE 's/^(ShdPnd|SigPnd):[[:space:]]*//p' "/proc/$1/status"); do
        [ $((0x$waiting & 0x4000)) = 0 ] || return 1
    done
}
# terminate_twice PID: the second signal ends what a worker executes.
terminate_twice() {
    kill "$1"
    until_true 'the first signal is taken' taken "$1"
    kill "$1"
}
sql() { psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$@"; }

# One server of tmux for all terminals of a test: one that ends with its last terminal may be asked for the next as it goes.
printf 'set -s exit-empty off\n' >"$work/tmux.conf"
in_tmux() { tmux -S "$work/tmux" -f "$work/tmux.conf" "$@"; }

# terminal WIDTH HEIGHT COMMAND...: what a terminal of that size shows when the command has ended.
terminal() {
    local width=$1 height=$2 name=t$RANDOM
    shift 2
    # The title comes behind the output, so tmux has read all of it when it has read the title.
    printf 'exec 2>&1\n%s\nprintf "\\033]2;%s\\007"\nsleep 600\n' "$*" "ended-$name" >"$work/$name.sh"
    in_tmux new-session -d -s "$name" -x "$width" -y "$height" "bash $work/$name.sh"
    for _ in $(seq $((1200 * ${PAWL_PATIENCE:-1}))); do
        [ "$(in_tmux display-message -p -t "$name" '#{pane_title}' 2>/dev/null)" != "ended-$name" ] || break
        sleep 0.05
    done
    in_tmux capture-pane -p -t "$name" | sed 's/ *$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
    in_tmux kill-session -t "$name" 2>/dev/null
}
