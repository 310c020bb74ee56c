# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of this folder; sourced, not run. Databases of their own, installs as the owner, dumps, TAP lines.

# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../harness/lib.sh"
# These speak TAP: the line says that they are skipped, and Meson takes any exit code but 0 for a failure.
code=0
(need_database upgrade) || code=$?
[ "$code" = 0 ] || exit $((code == 77 ? 0 : code))

work=$(mktemp -d)
databases=()
number=0
trap 'for d in "${databases[@]}"; do direct_psql -c "drop database if exists $d with (force)"; done; rm -rf "$work"' EXIT

direct_psql -c "do \$\$ begin create role pawl_owner nosuperuser nocreaterole nocreatedb login;
    exception when duplicate_object or unique_violation then null; end \$\$" >/dev/null

plan() { printf '1..%d\n' "$1"; }
ok() {
    number=$((number + 1))
    printf '%s %d - %s\n' "$([ "$1" = 0 ] && printf ok || printf 'not ok')" "$number" "$2"
}
is() {
    if [ "$1" = "$2" ]; then ok 0 "$3"; else
        ok 1 "$3"
        printf '# got "%s", expected "%s"\n' "$1" "$2"
    fi
}
# same FILE FILE TEXT: the files are equal; otherwise shows where they differ.
same() {
    if diff -u "$1" "$2" >"$work/diff"; then ok 0 "$3"; else
        ok 1 "$3"
        head -n 40 "$work/diff" | sed 's/^/# /'
    fi
}

# Prints the name of a new empty database that belongs to an ordinary role. Arguments are more options of create database.
new_database() {
    local name=pawl_upgrade_$$_$RANDOM
    direct_psql -c "create database $name owner pawl_owner $*" >/dev/null
    printf '%s\n' "$name" >>"$work/databases"
    mapfile -t databases <"$work/databases"
    printf '%s\n' "$name"
}

owner_psql() {
    local database=$1
    shift
    PGHOST=${PAWL_DIRECT_PGHOST:-$PGHOST} PGPORT=${PAWL_DIRECT_PGPORT:-${PGPORT:-5432}} PGUSER=pawl_owner PGDATABASE=$database \
        psql --no-psqlrc --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 "$@"
}
install() { owner_psql "$1" -f "$2" -o /dev/null; }

# The schema without partitions, whose names hold the day, and without lines that differ at every dump.
dump() {
    PGHOST=${PAWL_DIRECT_PGHOST:-$PGHOST} PGPORT=${PAWL_DIRECT_PGPORT:-${PGPORT:-5432}} \
        pg_dump --schema-only --exclude-table 'pawl_data.*_20??????' "$1" | grep -v '^\\\(un\)\?restrict ' || return 1
}
