#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Puts a version beside the one that is live, asks somebody, switches over, and looks whether it works. If not, it switches back.
#
#   pawl run-script deploy.sh VERSION DIRECTORY
#   pawl approval list
#   pawl approve RUN go-live
#
# CHECK is the command that tells whether the live version works.
set -eu
version=$1
directory=$2
check=${CHECK:-test -e "$directory/live/version"}

pawl step build --undo "rm -rf '$directory/$version'" -- \
    sh -c 'mkdir -p "$1/$2" && echo "$2" >"$1/$2/version"' sh "$directory" "$version"

if ! pawl wait go-live --approval --form "{\"version\": \"$version\"}" --timeout 1d >/dev/null; then
    echo "$version was not wanted"
    exit 0
fi

before=$(pawl step before -- sh -c 'readlink "$1/live" || true' sh "$directory")
back="rm -f '$directory/live'"
if [ -n "$before" ]; then
    back="ln -sfn '$before' '$directory/.live' && mv -T '$directory/.live' '$directory/live'"
fi
# A rename replaces the link in one move, however often it is done.
pawl step switch --undo "$back" -- \
    sh -c 'ln -sfn "$2" "$1/.live" && mv -T "$1/.live" "$1/live"' sh "$directory" "$version"
pawl step check --max-attempts 2 --backoff 200ms -- sh -c "$check"
echo "$version is live"
