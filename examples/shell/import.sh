#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Imports all pages of an API, one after another, each once. A page is lines of data; its first line is the address of the next page, or
# empty.
#
#   pawl run-script import.sh FIRST-PAGE FILE
#
# Addresses are files here; FETCH="curl -sf" fetches them from elsewhere.
set -eu
page=$1
file=$2
fetch=${FETCH:-cat}
count=0

while [ -n "$page" ]; do
    # The same name each time: fetch#1, fetch#2 ... in the order of the loop.
    # shellcheck disable=SC2086
    text=$(pawl step fetch --max-attempts 5 --backoff 200ms -- $fetch "$page")
    # Each page has a file of its own, which is replaced in one move: doing it twice does no harm.
    printf '%s\n' "$text" | pawl step store -- \
        sh -c 'sed 1d >"$1.new" && mv "$1.new" "$1"' sh "$file.$count"
    page=$(printf '%s\n' "$text" | head -n 1)
    count=$((count + 1))
done
pawl step join -- sh -c '
    for i in $(seq 0 $(($2 - 1))); do cat "$1.$i"; done >"$1.new" && mv "$1.new" "$1"' sh "$file" "$count"
pawl step clean -- sh -c 'for i in $(seq 0 $(($2 - 1))); do rm -f "$1.$i"; done' sh "$file" "$count"
echo "$count pages"
