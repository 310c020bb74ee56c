# SPDX-License-Identifier: Apache-2.0
# Shared by the harness's scripts; sourced, not run. Says where things are and how to reach the cluster directly.

# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${PAWL_BUILD:-$root/build}
pawl_sql=${PAWL_SQL:-$build/pawl.sql}

# Exits as "skipped" when there is no cluster; $1 is the suite to name in the advice.
need_database() {
    if [ -z "${PGHOST:-}" ]; then
        printf '1..0 # SKIP needs a database: run tools/pg_tmp meson test -C build --suite %s\n' "$1"
        exit 77
    fi
    if [ ! -e "$pawl_sql" ]; then
        printf 'no "%s": run meson compile -C build\n' "$pawl_sql" >&2
        exit 1
    fi
}

# psql past any pooler, for what a pooler cannot do: create and drop databases, install as another role.
direct_psql() {
    PGHOST=${PAWL_DIRECT_PGHOST:-$PGHOST} PGPORT=${PAWL_DIRECT_PGPORT:-${PGPORT:-5432}} PGDATABASE=postgres \
        psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$@"
}

# one_of N: of the lines of standard input one of N, which PAWL_SEED chooses, and at least one if there is any. The same seed takes the same lines.
one_of() {
    awk -v n="$1" -v seed="${PAWL_SEED:-0}" '
        { lines[NR] = $0 }
        END {
            if (n > NR) n = NR
            for (i = 1; i <= NR; i++) if ((i + seed) % n == 0) print lines[i]
        }'
}

# all_but_one_of N: the lines of standard input that one_of leaves with the same seed; a single line is left, too.
all_but_one_of() {
    awk -v n="$1" -v seed="${PAWL_SEED:-0}" '
        { lines[NR] = $0 }
        END {
            if (n > NR) n = NR
            for (i = 1; i <= NR; i++) if (NR == 1 || (i + seed) % n != 0) print lines[i]
        }'
}
