#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/check_includes lets the arrows of the architecture pass and finds every other one, in a tree made here.
set -uo pipefail
tools=$(cd "$(dirname "$0")/../../../tools" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
number=0

for area in base pg libpawl server cli; do
    mkdir -p "$tree/src/$area"
    touch "$tree/src/$area/$area.h"
done
for room in show report sandbox process command script exec verbs flow setup top bench; do
    mkdir -p "$tree/src/cli/$room"
    touch "$tree/src/cli/$room/$room.h"
done
for room in common client run worker; do
    mkdir -p "$tree/src/libpawl/$room"
    touch "$tree/src/libpawl/$room/$room.h"
done
mkdir -p "$tree/src/server/api"
touch "$tree/src/server/api/api.h"
mkdir -p "$tree/include/pawl" "$tree/bindings/node" "$tree/src/cli/cellar"
touch "$tree/include/pawl/error.h" "$tree/include/pawl/pawl.h"

cases=()

# expect RESULT FILE INCLUDE: RESULT is 1 if the checker must name the file for that include. All files are checked by one call, at the end.
expect() {
    local file=${2%.*}_${#cases[@]}.${2##*.}
    case $2 in
    */a.[ch]) ;;
    *) file=$2 ;;
    esac
    printf '#include %s\n' "$3" >"$tree/$file"
    cases+=("$1 $file $3")
}
report() {
    local found result file include bad
    found=$("$tools/check_includes" "$tree")
    for case in "${cases[@]}"; do
        read -r result file include <<<"$case"
        number=$((number + 1))
        bad=0
        [[ $'\n'$found != *$'\n'"$file":* ]] || bad=1
        [ "$bad" -eq "$result" ] || printf 'not '
        printf 'ok %d - %s %s %s\n' "$number" "$file" "$([ "$result" -eq 0 ] && printf 'may include' || printf 'may not include')" "$include"
    done
}

may() { expect 0 "$@"; }
may_not() { expect 1 "$@"; }

may src/base/a.c '<stdio.h>'
may src/base/a.c '"pawl/error.h"'
may_not src/base/a.c '<pawl/pawl.h>'
may_not src/base/a.c '"pg/pg.h"'
may_not src/base/a.c '<libpq-fe.h>'
may src/pg/a.c '<libpq-fe.h>'
may src/pg/a.c '"base/base.h"'
may_not src/pg/a.c '"libpawl/libpawl.h"'
may_not src/pg/a.c '<pawl/pawl.h>'
may src/libpawl/a.c '"pg/pg.h"'
may src/libpawl/a.c '<pawl/pawl.h>'
may_not src/libpawl/a.c '<libpq-fe.h>'
may_not src/libpawl/a.c '"server/server.h"'
# The rooms of the library: down, never up or sideways.
may src/libpawl/worker/a.c '"libpawl/run/run.h"'
may src/libpawl/worker/a.c '"pg/pg.h"'
may src/libpawl/run/a.c '"libpawl/common/common.h"'
may src/libpawl/client/a.c '"libpawl/common/common.h"'
may_not src/libpawl/run/a.c '"libpawl/worker/worker.h"'
may_not src/libpawl/common/a.c '"libpawl/run/run.h"'
may_not src/libpawl/client/a.c '"libpawl/run/run.h"'
may_not src/libpawl/worker/a.c '"libpawl/client/client.h"'
may_not src/libpawl/a.c '"libpawl/run/run.h"'
may_not src/libpawl/run/a.c '<libpq-fe.h>'
may src/server/a.c '<pawl/pawl.h>'
may src/server/a.c '"server/api/api.h"'
may src/server/a.c '<microhttpd.h>'
may_not src/server/a.c '"libpawl/libpawl.h"'
may_not src/server/a.c '"pg/pg.h"'
may_not src/server/a.c '"cli/cli.h"'
may src/server/api/a.c '"base/base.h"'
may_not src/server/api/a.c '"server/server.h"'
may_not src/server/api/a.c '<microhttpd.h>'
may_not src/cli/a.c '"server/server.h"'
may_not src/cli/a.c '<microhttpd.h>'
may_not src/libpawl/client/a.c '<curl/curl.h>'
may_not src/cli/a.c '"pg/pg.h"'
may_not src/cli/a.c '"../libpawl/libpawl.h"'
# The rooms of the command: down, never up, and no room that is not in the table.
may src/cli/main.c '"cli/top/top.h"'
may src/cli/top/a.c '"cli/show/show.h"'
may src/cli/top/a.c '"cli/top/top.h"'
may src/cli/exec/a.c '"cli/script/script.h"'
may src/cli/bench/a.c '"cli/setup/setup.h"'
may src/cli/show/a.c '<pawl/pawl.h>'
may src/cli/show/a.c '"base/base.h"'
may_not src/cli/show/a.c '"cli/command/command.h"'
may_not src/cli/show/a.c '"../report/report.h"'
may_not src/cli/script/a.c '"cli/exec/exec.h"'
may_not src/cli/command/a.c '"cli/cli.h"'
may_not src/cli/flow/a.c '"cli/top/top.h"'
may_not src/cli/setup/a.c '"cli/bench/bench.h"'
may_not src/cli/exec/a.c '"pg/pg.h"'
may_not src/cli/cellar/a.c '<stdio.h>'
may bindings/node/a.c '<pawl/pawl.h>'
may_not bindings/node/a.c '"base/base.h"'
may include/pawl/a.h '<stdint.h>'
may include/pawl/a.h '"error.h"'
may_not include/pawl/a.h '<stdio.h>'
may_not include/pawl/a.h '<libpq-fe.h>'
may_not src/base/base.c '<stdio.h>'
may src/pg/pg.c '"pg.h"'
report

# A table that lets a lower room include a higher one is an error as well.
sed 's/"show": \[\]/"show": ["top"]/' "$tools/check_includes" >"$tree/check_includes"
number=$((number + 1))
case $(python3 "$tree/check_includes" "$tree") in
*'src/cli/top is not below src/cli/show'*) ;;
*) printf 'not ' ;;
esac
printf 'ok %d - the table itself may not point upward\n' "$number"
printf '1..%d\n' "$number"
