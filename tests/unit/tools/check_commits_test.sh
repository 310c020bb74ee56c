#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/check_commits finds each thing it says it finds in a history made here, and nothing in good commits.
set -uo pipefail
tools=$(cd "$(dirname "$0")/../../../tools" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
number=0
# A hook of git, or git rebase --exec, sets GIT_DIR, which would win over git -C.
unset $(git rev-parse --local-env-vars)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com

git_() { git -C "$tree" "$@" >/dev/null 2>&1; }

result() {
    number=$((number + 1))
    printf '%s %d - %s\n' "$1" "$number" "$2"
}

# finds MESSAGE PROBLEM [LINES]: a commit of so many lines with this message gives this problem; none if it is empty.
finds() {
    local out code=0
    git_ checkout -q -B try base
    seq "${3:-1}" >"$tree/file"
    git_ add file
    git_ commit -q --allow-empty -m "$1"
    out=$("$tools/check_commits" "$tree" base) || code=$?
    if { [ -z "$2" ] && [ "$code" -eq 0 ]; } || { [ -n "$2" ] && [ "$code" -eq 1 ] && grep -qF -- "$2" <<<"$out"; }; then
        result ok "${1%%$'\n'*}: ${2:-nothing to find}"
    else
        result 'not ok' "${1%%$'\n'*}: ${2:-nothing to find}"
        sed 's/^/# /' <<<"$out"
    fi
}

git_ init -q
git_ commit -q --allow-empty -m 'Before the rules there was nothing, and its subject was longer than sixty characters.'
git_ tag base

finds 'claim: read the mark once' ''
finds 'sql/code: read the mark once' ''
finds 'cli: pass the limit on' ''
finds 'run-script: embed the script' ''
finds "$(printf 'claim: read the mark once\n\nA second read saw another snapshot.')" '' 100
finds 'read the mark once' 'is not of the form'
finds 'Claim: read the mark once' 'is not of the form'
finds 'claim: the mark is read once' '"the": begin with a verb'
finds 'claim: what is read once' '"what": begin with a verb'
finds 'claim: reads the mark once' '"reads": begin with a verb'
finds 'claim: reading the mark once' '"reading": begin with a verb'
finds 'claim: mended the mark' '"mended": begin with a verb'
finds 'claim: read the mark once.' 'ends with a full stop'
finds 'claim: read the mark of a queue once and no longer for each task' 'has 64 characters'
finds "$(printf 'claim: read the mark\nonce')" 'has no empty line'
finds 'claim: read the mark once' 'has no body' 100

git_ checkout -q -B other base
git_ commit -q --allow-empty -m 'docs: name the mark'
git_ checkout -q -B try base
git_ commit -q --allow-empty -m 'docs: name the gate'
git_ merge -q other -m "docs: merge branch other"

# says WHAT TEXT BASE CODE: the checker prints this text and exits with this code.
says() {
    local out code=0
    out=$("$tools/check_commits" "$tree" "$3") || code=$?
    if [ "$code" -eq "$4" ] && grep -qF "$2" <<<"$out"; then result ok "$1"; else result 'not ok' "$1"; fi
}

says 'a merge is found' 'is a merge' base 1
says 'a tree without its history passes with a warning' 'no commit was checked' 0123456789012345678901234567890123456789 0
printf '1..%d\n' "$number"
