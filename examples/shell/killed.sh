#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Executes greet.sh, kills it in the middle, and executes it again: what was done is not done again.
#
#   pawl dev -- sh killed.sh
script=$(dirname "$0")/greet.sh

echo "first:"
pawl run-script "$script" &
sleep 1.5
kill -9 $!
wait 2>/dev/null

echo "killed, and again, once the database is sure that the worker is dead:"
pawl run-script "$script"
