#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Packs a directory, uploads it and looks at what has arrived. If that is not what was sent, nothing is left of it.
#
#   pawl run-script backup.sh DIRECTORY TARGET
#
# UPLOAD says how to upload; it is given the file and where it goes. cp by default; for others: UPLOAD="rclone copyto".
set -eu
directory=$1
target=$2
upload=${UPLOAD:-cp}

# The time of the first try, for all tries.
stamp=$(pawl set stamp "$(date +%Y%m%d-%H%M%S-%N)")
file=$target/$(basename "$directory")-$stamp.tar
pack=$target/.$stamp.tar

pawl step pack --undo "rm -f '$pack'" -- tar -C "$directory" -cf "$pack" .
sum=$(pawl step checksum -- sh -c 'cksum <"$1"' sh "$pack")
# Words of $upload are meant to be split.
# shellcheck disable=SC2086
pawl step upload --max-attempts 5 --backoff 200ms --undo "rm -f '$file'" -- $upload "$pack" "$file"
pawl step verify --max-attempts 2 --backoff 200ms -- sh -c 'test "$(cksum <"$1")" = "$2"' sh "$file" "$sum"
pawl step clean -- rm -f "$pack"
echo "$file"
