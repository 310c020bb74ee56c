#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Continuous integration fits: planned shares add up to at most 20 minutes, each suite has one, and what .ci/full depends on exists.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1

number=0
ok() {
    number=$((number + 1))
    printf '%s %d - %s\n' "$([ "$1" = 0 ] && printf ok || printf 'not ok')" "$number" "$2"
}

printf '1..8\n'
sum=$(awk '!/^#/ { n += $2 } END { print n }' .ci/shares)
ok $((sum > 1200)) "the shares of .ci/run add up to $sum s, at most 1,200"
shared=$(awk '!/^#/ && NF { print $1 }' .ci/shares)
listed=$(printf 'prepare\n' && .ci/run --list | tr ' ' +)
ok "$([ "$shared" = "$listed" ]; echo $?)" 'each stage of .ci/run has a share, and each share a stage'
.ci/run nosuch 2>/dev/null
ok $(($? != 2)) 'a suite that is not there is refused'
bad=0
while read -r part paths; do
    for path in $paths; do
        [ -e "$path" ] || { printf '# %s: no %s\n' "$part" "$path" && bad=1; }
    done
    grep -q "^part_$part() " .ci/full || { printf '# %s: no function\n' "$part" && bad=1; }
done < <(grep -v '^#' .ci/parts)
ok "$bad" 'each part of .ci/full has a function, and depends on paths that exist'
tools/figures check
ok $? 'the table of figures in docs/status.md is current'
grep -qx 'own_environment PAWL_SEED PAWL_PATIENCE' .ci/run && ! grep -q 'PAWL_TIMES=' .ci/run
ok $? '.ci/run makes no bound in time a check'
# What together() does with a suite that dies, that says nothing, and that fails.
code=$(
    . .ci/lib.sh
    logs=$(mktemp -d)
    do_dies() { note dies 1 5 0 && kill -9 "$BASHPID"; }
    do_mute() { :; }
    do_good() { note good 1 3 0; }
    do_bad() { note bad 1 3 2; }
    together dies good >/dev/null 2>&1
    together mute >/dev/null 2>&1
    together bad good >/dev/null 2>&1
    printf '%s %s' "$passed" "$failed"
    rm -rf "$logs"
)
ok "$([ "$code" = '14 4' ]; echo $?)" "a suite that dies or has no result has failed ($code)"
# The form of Meson's log; fail_msg() of cmocka writes to standard error.
log=$(mktemp)
for name in good bad; do
    printf '%s\n' '==== 1/2 ====' "test:         pawl:unit / $name" 'duration:     1.50s' \
        "result:       exit status $([ "$name" = good ]; echo $?)" '---- stdout ----' '1..1' \
        "$([ "$name" = good ] || printf 'not ')ok 1 - it_is_$name" "# a.c:46: error of $name" '---- stderr ----' "ERROR: $name: why" '========'
done >"$log"
printf '\nSummary of Failures:\n' >>"$log"
said=$(. .ci/lib.sh && failures "$log")
rm -f "$log"
[ "$said" = '---- pawl:unit / bad, 1.50s, exit status 1
not ok 1 - it_is_bad
# a.c:46: error of bad
ERROR: bad: why' ]
ok $? 'what a failing test said is shown, and nothing of others'
