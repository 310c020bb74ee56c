#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A nightly report: counts each region at the same time, waits for the night, and sends it once.
#
#   pawl run-script report.sh DIRECTORY OUTBOX
#
# PAUSE is how long to wait, 6h by default. DIRECTORY has a file for each region.
set -eu
directory=$1
outbox=$2
day=$(pawl set day "$(date +%F)")

counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT
trap 'exit 143' TERM # so ends a script that has to wait

# Steps at the same time have different names.
regions=$(pawl step regions -- ls "$directory")
for region in $regions; do
    pawl step "count.$region" -- sh -c 'wc -l <"$1"' sh "$directory/$region" >"$counts/$region" &
done
wait

pawl sleep night "${PAUSE:-6h}"

report=$(for region in $regions; do printf '%s %s\n' "$region" "$(cat "$counts/$region")"; done)
# A rename, under a name that is the same each time this step is tried: sent once, however often that is.
printf '%s\n' "$report" | pawl step send -- \
    sh -c 'cat >"$1/.$PAWL_RUN_ID" && mv "$1/.$PAWL_RUN_ID" "$1/$2-$PAWL_RUN_ID"' sh "$outbox" "$day"
printf '%s\n' "$report"
