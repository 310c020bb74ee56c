#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A worker for flow/refund.json. A task is a run to its program, so it may wait for a person: nothing is held meanwhile but a row. The
# step is skipped for small refunds, as its condition says.
#
#   pawl flow apply refund.json
#   pawl worker --exec 'shop.refund.v1/*=./refund.sh'
#   pawl trigger shop.refund.v1 --input '{"amount": 900}'
#   pawl approve RUN refund
set -eu
input=$(cat)
amount=$(printf '%s' "$input" | sed -n 's/.*"amount" *: *\([0-9]*\).*/\1/p')

case ${PAWL_WORKFLOW##*/} in
rate)
    if [ "$amount" -gt 100 ]; then echo '{"large": true}'; else echo '{"large": false}'; fi
    ;;
approve)
    pawl wait refund --approval --form "{\"amount\": $amount}" --timeout 7d >/dev/null || exit 65
    echo '{"approved": true}'
    ;;
pay)
    pawl step transfer -- echo "\"paid $amount\""
    ;;
tell)
    echo '"a letter"'
    ;;
esac
