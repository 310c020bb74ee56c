# SPDX-License-Identifier: Apache-2.0
# Shared by .ci/run and .ci/full; sourced, not run. Installs what is missing, builds, runs checks, suites and benchmarks, and keeps the
# table of what passed, what failed and how long it took.

# shellcheck shell=bash
packages=(
    gcc g++ clang-14 clang-format-14 libclang-rt-14-dev meson ninja-build pkg-config git perl openssl
    libpq-dev libncurses-dev libmicrohttpd-dev libcmocka-dev scdoc tmux procps zsh fish spin iproute2 prometheus python3 python3-dev python3-venv
    postgresql-15 postgresql-server-dev-15 postgresql-15-pgtap postgresql-15-plpgsql-check pgbouncer
)
command -v npm >/dev/null || packages+=(nodejs npm)

# own_environment NAME...: of what the environment says to tests, only these count. Sizes of an earlier experiment, or another tree, would be played
# instead. A hook of git sets GIT_DIR, and tests that make repositories would write to it.
own_environment() {
    local name
    for name in $(compgen -A export PAWL_); do
        [[ " $* " == *" $name "* ]] || unset "$name"
    done
    # shellcheck disable=SC2046
    unset $(git rev-parse --local-env-vars)
}

logs=build/ci
passed=0
failed=0
warned=0
table=()

stage_table=()

# Counts and times a suite: name, seconds, passed, failed.
note() {
    passed=$((passed + $3))
    failed=$((failed + $4))
    table+=("$(printf '%-22s %6d s %6d passed %4d failed' "$@")")
    printf '%s\n' "${table[-1]}"
}

# planned NAME SECONDS: adds a stage to the table of planned shares (.ci/shares).
planned() {
    local share
    share=$(awk -v name="$1" '$1 == name { print $2 }' .ci/shares)
    [ -z "$share" ] || stage_table+=("$(printf '%-34s %6d s of %4d' "$1" "$2" "$share")")
}

# warn NAME FILE: prints what a log warns of. A warning fails nothing.
warn() {
    local lines
    lines=$(grep -aE '# warning: |"gate_ok": true' "$2" 2>/dev/null | grep -avE '"ok": true' | sort | uniq -c)
    [ -n "$lines" ] || return 0
    printf 'warning: %s:\n%s\n' "$1" "$lines"
}

# check NAME COMMAND...: one check, good or bad.
check() {
    local name=$1 start=$SECONDS
    shift
    if "$@" >"$logs/$name.log" 2>&1; then
        note "$name" $((SECONDS - start)) 1 0
    else
        printf '%s\n' "---- $name: $*" && tail -n 200 "$logs/$name.log"
        note "$name" $((SECONDS - start)) 0 1
        return 1
    fi
}

# failures LOG: what the failing tests in a log of Meson said, which Meson keeps to itself if they speak TAP: their names and times, what
# failed, and the end of their standard error, where cmocka's fail_msg() and the checkers write.
failures() {
    awk '
        function tell(  i) {
            if (bad) {
                print head
                for (i = 1; i <= said && i <= 100; i++) print lines[i]
                for (i = errors > 60 ? errors - 59 : 1; i <= errors; i++) print text[i]
            }
            head = ""; said = errors = bad = err = 0
        }
        /^=+ [0-9]+\/[0-9]+ =+$/ { tell(); next }
        /^test: / { head = "---- " $2 " " $3 " " $4; next }
        /^duration: / { head = head ", " $2; next }
        /^result: / { head = head ", " substr($0, 15); bad = $0 !~ /exit status (0|77)$/; next }
        /^-+ stderr -+$/ { err = 1; next }
        /^-+ stdout -+$/ { err = 0; next }
        /^=+$/ { err = 0; next }
        err { if ($0 != "") text[++errors] = $0; next }
        /^not ok/ && !/# SKIP/ { bad = 1 }
        /^(not ok|#)/ && !/: the same$/ { lines[++said] = $0 }
        END { tell() }
    ' "$1"
}

# tests NAME BUILD SUITE PREFIX... -- [ARGUMENT]...: a suite of Meson in a build directory. The prefix brings the server; the arguments go
# to `meson test`: names of tests, each of which must be there, and --test-args.
tests() {
    local name=$1 build=$2 suite=$3 start=$SECONDS code=0 counts prefix=() word names=0
    shift 3
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        prefix+=("$1")
        shift
    done
    shift
    for word in "$@"; do
        [[ $word == --* ]] || names=$((names + 1))
    done
    rm -f "$build/meson-logs/$name.json"
    # Limits of time are for tests that hang, and this may be a slow machine that others use.
    "${prefix[@]}" meson test -C "$build" --no-rebuild --suite "$suite" --logbase "$name" --print-errorlogs --timeout-multiplier 4 "$@" \
        >"$logs/$name.log" 2>&1 || code=$?
    read -r -a counts < <(tools/count_tests "$build/meson-logs/$name.json") || counts=(0 1)
    # A suite that tests nothing is a mistake, too, and Meson says nothing of a name that it does not find.
    [ "$code" -eq 0 ] && [ $((counts[0] + counts[1])) -gt 0 ] && [ "$(wc -l <"$build/meson-logs/$name.json")" -ge "$names" ] ||
        [ "${counts[1]}" -gt 0 ] || counts[1]=1
    warn "$name" "$build/meson-logs/$name.txt"
    if [ "${counts[1]}" -gt 0 ]; then
        printf '%s\n' "---- $name"
        failures "$build/meson-logs/$name.txt" | head -n 300
        tail -n 200 "$logs/$name.log"
    fi
    note "$name" $((SECONDS - start)) "${counts[0]}" "${counts[1]}"
}

# bench NAME PROGRAM...: counts the figures that have a bound. A figure that a clock measured fails past its gate only.
bench() {
    local name=$1 start=$SECONDS code=0 good bad
    shift
    "$@" >"$logs/$name.log" 2>&1 || code=$?
    good=$(grep -cE '"ok": true|"gate_ok": true' "$logs/$name.log")
    bad=$(grep '"ok": false' "$logs/$name.log" | grep -cv '"gate_ok": true')
    [ "$code" -eq 0 ] && [ $((good + bad)) -gt 0 ] || [ "$bad" -gt 0 ] || bad=1
    cat "$logs/$name.log"
    warn "$name" "$logs/$name.log"
    note "$name" $((SECONDS - start)) "$good" "$bad"
}

# together NAME...: suites at the same time, each the function do_NAME; most leave a processor idle. A suite that ends without a result, or before it
# says that it is through, has failed.
together() {
    local name line start=$SECONDS
    local -a words
    # Each in a process group of its own, which a signal to this shell ends: see end_groups().
    set -m
    for name in "$@"; do
        { "do_$name"; printf 'through: %s\n' "$name"; } >"$logs/$name.part" 2>&1 7>&- &
        groups+=($!)
    done
    set +m
    wait
    groups=()
    for name in "$@"; do
        grep -avx "through: $name" "$logs/$name.part"
        while read -r line; do
            read -r -a words <<<"$line"
            table+=("$line")
            passed=$((passed + words[3]))
            failed=$((failed + words[5]))
        done < <(grep -aE '^[a-z0-9_]+ +[0-9]+ s +[0-9]+ passed +[0-9]+ failed$' "$logs/$name.part")
        if ! grep -qaE "^$name +[0-9]+ s +[0-9]+ passed" "$logs/$name.part" || [ "$(tail -n 1 "$logs/$name.part")" != "through: $name" ]; then
            note "$name" $((SECONDS - start)) 0 1
        fi
        warned=$((warned + $(grep -acE '^ +[0-9]+ (# warning: |\{.*"gate_ok": true)' "$logs/$name.part")))
    done
    planned "$(IFS=+ && printf '%s' "$*")" $((SECONDS - start))
}

# Ends the suites that together() has started.
end_groups() {
    local group
    for group in "${groups[@]}"; do
        kill -TERM -- "-$group" 2>/dev/null
    done
    wait
}

# Prints the table; the exit code says whether all passed.
finish() {
    printf '\n'
    printf '%s\n' "${table[@]}"
    printf '\n'
    printf '%s\n' "${stage_table[@]}"
    printf 'in all %d s, %d warnings\n' "$SECONDS" "$warned"
    printf '%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    exit
}

missing() {
    local package
    for package in "${packages[@]}"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s\n' "$package"
    done
}

# Servers that come with a package must not start: tests start their own.
install_packages() {
    local wanted policy=/usr/sbin/policy-rc.d made=no try
    mapfile -t wanted < <(missing)
    [ ${#wanted[@]} -gt 0 ] || return 0
    printf 'packages: %s\n' "${wanted[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        printf 'these packages are missing, and only root can install them\n'
        return 1
    fi
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
        made=yes
    fi
    # A mirror that does not answer once is no reason to fail.
    for try in 1 2 3; do
        apt-get update && DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends "${wanted[@]}" && break
        [ "$try" -lt 3 ] && sleep 5
    done
    [ "$made" = no ] || rm -f "$policy"
    mapfile -t wanted < <(missing)
    [ ${#wanted[@]} -eq 0 ]
}

# install_servers VERSION...: those that npm brings are fetched here, so that no suite's time holds a download.
install_servers() {
    local version
    for version in "$@"; do
        tools/pg_tmp --version "$version" psql -Atc 'show server_version' || return 1
    done
}

# Fetches what the tests of the Python binding need while others run, for most of it is a wait for the network. Those tests wait until it is through, and
# where it failed they try again and say why. Not a child of this shell, which waits for its children; it ends with this shell, or after 15 minutes.
fetch_python() {
    local pid
    pid=$(setsid timeout 900 bindings/python/tests/run --fetch >"$logs/python.log" 2>&1 7>&- & printf '%s' $!)
    # shellcheck disable=SC2064
    trap "! grep -qsze --fetch /proc/$pid/cmdline || kill $pid" EXIT
}

build() {
    local dir=$1 compiler=$2
    if [ -e "$dir/build.ninja" ]; then
        meson setup --reconfigure "$dir" -Dwerror=true -Dtests=true || return 1
    else
        CC=$compiler meson setup "$dir" -Dwerror=true || return 1
    fi
    meson compile -C "$dir"
}
