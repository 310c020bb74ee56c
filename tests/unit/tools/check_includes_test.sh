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
mkdir -p "$tree/include/pawl" "$tree/bindings/node"
touch "$tree/include/pawl/error.h" "$tree/include/pawl/pawl.h"

# expect RESULT FILE INCLUDE: RESULT is what the checker must exit with when FILE has that include.
expect() {
    local code=0
    number=$((number + 1))
    printf '#include %s\n' "$3" >"$tree/$2"
    "$tools/check_includes" "$tree" >/dev/null || code=$?
    : >"$tree/$2"
    [ "$code" -eq "$1" ] || printf 'not '
    printf 'ok %d - %s %s %s\n' "$number" "$2" "$([ "$1" -eq 0 ] && printf 'may include' || printf 'may not include')" "$3"
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
may src/server/a.c '<pawl/pawl.h>'
may_not src/server/a.c '"libpawl/libpawl.h"'
may src/cli/a.c '"server/server.h"'
may_not src/cli/a.c '"pg/pg.h"'
may_not src/cli/a.c '"../libpawl/libpawl.h"'
may bindings/node/a.c '<pawl/pawl.h>'
may_not bindings/node/a.c '"base/base.h"'
may include/pawl/pawl.h '<stdint.h>'
may include/pawl/pawl.h '"error.h"'
may_not include/pawl/pawl.h '<stdio.h>'
may_not include/pawl/pawl.h '<libpq-fe.h>'
may_not src/base/base.c '<stdio.h>'
may src/base/base.c '"base.h"'
printf '1..%d\n' "$number"
