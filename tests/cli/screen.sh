# SPDX-License-Identifier: Apache-2.0
# Shared by tests of full-screen views; sourced behind lib.sh, not run. A terminal that stays, keys, and what is seen.

# shellcheck shell=bash disable=SC2154

# start WIDTH HEIGHT COMMAND...: in a terminal of that size. When the command has ended, its code and the state of the terminal are there.
start() {
    local width=$1 height=$2
    shift 2
    pane=s$RANDOM$RANDOM
    cat >"$work/$pane.sh" <<SCRIPT
stty -g >$work/$pane.before
(printf '%s\n' "\$BASHPID" >$work/$pane.pid; exec $*)
code=\$?
stty -g >$work/$pane.after
printf 'ended with %s\n' "\$code"
exec sleep 600
SCRIPT
    in_tmux new-session -d -s "$pane" -x "$width" -y "$height" "bash $work/$pane.sh"
}
screen() { in_tmux capture-pane -p -t "$pane" "$@"; }
press() { in_tmux send-keys -t "$pane" "$@"; }
pid_of_command() { cat "$work/$pane.pid"; }

# before_long COMMAND...: waits for a command to succeed, for a minute or so at most; not so long once something was wrong.
before_long() {
    for _ in $(seq $((bad > 0 ? 40 : 1200 * ${PAWL_PATIENCE:-1}))); do
        if "$@"; then return 0; fi
        sleep 0.05
    done
    return 1
}
has() { [[ $(screen) =~ $1 ]]; }
has_not() { ! has "$1"; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# shows PATTERN WHAT: sooner or later.
shows() {
    if before_long has "$1"; then ok 0 "$2"; else
        ok 1 "$2"
        printf '# expected something like: %s\n' "$1"
        screen | sed 's/^/#   /'
    fi
}
shows_no() {
    if before_long has_not "$1"; then ok 0 "$2"; else
        ok 1 "$2"
        screen | sed 's/^/#   /'
    fi
}

# is_sane WHAT: the terminal is as it was before the command: its settings, the cursor, the screen.
is_sane() {
    before_long test -s "$work/$pane.after"
    is "$(cat "$work/$pane.after")" "$(cat "$work/$pane.before")" "$1: the settings are as they were"
    is "$(in_tmux display -p -t "$pane" '#{cursor_flag} #{alternate_on} #{keypad_cursor_flag} #{keypad_flag}')" '1 0 0 0' \
        "$1: cursor, screen and keypad, too"
}
