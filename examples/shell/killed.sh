#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Executes greet.sh, kills it in the middle, and executes it again: what was done is not done again.
#
#   pawl dev -- sh killed.sh
script=$(dirname "$0")/greet.sh

echo "first:"
pawl run-script "$script" &
# Not before the second step is done, however long the first one takes.
while kill -0 $! && ! pawl run show "$(pawl run list -n 1 -o ids)" | grep -q 'greet.* SUCCESS'; do
    sleep 0.1
done 2>/dev/null
kill -9 $!
wait 2>/dev/null

echo "killed, and again, once the database is sure that the worker is dead:"
pawl run-script "$script"
