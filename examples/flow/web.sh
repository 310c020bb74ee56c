#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A worker for flow/web.json made of one program: it is executed for each task, with the input on standard input, and what it writes is
# the output of the step.
#
#   pawl flow apply web.json
#   pawl worker --exec 'web.analysis.v1/*=./web.sh'
set -eu
input=$(cat)
# The text of a member; a program of yours has a JSON parser for that, such as jq.
text() { printf '%s' "$input" | sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }
number() { printf '%s' "$input" | sed -n "s/.*\"$1\" *: *\([0-9]*\).*/\1/p"; }

case ${PAWL_WORKFLOW##*/} in
fetch_url)
    [ -n "$(text url)" ] || exit 65 # no other try would find one
    echo '{"status": 200, "content": "one good page"}'
    ;;
analyze_text)
    content=$(text content)
    words=$(printf '%s' "$content" | wc -w)
    case $content in *good*) sentiment=positive ;; *) sentiment=none ;; esac
    echo "{\"sentiment\": \"$sentiment\", \"words\": $((words))}"
    ;;
extract_images)
    echo '{"images": ["1.jpg", "2.jpg"], "count": 2}'
    ;;
create_report)
    echo "{\"summary\": \"$(text sentiment)\", \"images\": $(number count)}"
    ;;
esac
