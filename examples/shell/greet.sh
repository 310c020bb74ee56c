#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Four steps, one of which takes its time. See killed.sh.
#
#   pawl run-script greet.sh
set -e
name=$(pawl step ask -- sh -c 'date +%T')
pawl step greet -- echo "hello, it is $name"
pawl step work -- sleep 2
pawl step bye -- echo "goodbye; it was $name when we began"
