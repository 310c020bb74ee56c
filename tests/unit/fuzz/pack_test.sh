#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/fuzz/pack keeps every byte of every input, in both directions, and refuses a corpus that it would not have written.
set -uo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
number=0
mkdir "$dir/corpus" "$dir/files"

pack() { "$root/tests/fuzz/pack" --corpus "$dir/corpus" "$@"; }

# is WHAT COMMAND...: the command succeeds.
is() {
    local what=$1 out
    shift
    number=$((number + 1))
    if out=$("$@" 2>&1); then
        printf 'ok %d - %s\n' "$number" "$what"
    else
        printf 'not ok %d - %s\n' "$number" "$what"
        sed 's/^/# /' <<<"$out"
    fi
}

fails() { ! "$@"; }

# refused LINE...: a corpus of these lines fails its check.
refused() {
    printf '%s\n' "$@" >"$dir/bad/x.txt"
    fails "$root/tests/fuzz/pack" --corpus "$dir/bad" --check
}

python3 - "$dir/files" <<'PY'
import hashlib, pathlib, random, sys
files = pathlib.Path(sys.argv[1])
dice = random.Random(7)
inputs = [bytes(range(256)), b"", b'"', b"\\", b"\\n\n", b" ", b"\xc3\xa4", b"a\r\n\0"]
inputs += [dice.randbytes(dice.randrange(300)) for _ in range(300)]
for data in inputs:
    (files / hashlib.sha1(data).hexdigest()).write_bytes(data)
(files / "seed-00").write_bytes(b"named \0")
PY
is 'a directory is packed' pack one "$dir/files"
is 'what is packed passes its check' pack --check
is 'it is unpacked' pack --unpack one "$dir/back"
is 'to the same files with the same bytes' diff -r "$dir/files" "$dir/back"
is 'the corpus is plain text' fails grep -qaP '[^\x20-\x7e]' "$dir/corpus/one.txt"
before=$(sha1sum <"$dir/corpus/one.txt")
is 'packed again' pack one "$dir/files"
is 'it is the same' test "$before" = "$(sha1sum <"$dir/corpus/one.txt")"

printf '\\\0' >"$dir/new"
is 'one input is added with a name' pack --name found-a-zero one "$dir/new"
is 'which its line begins with' grep -qxF 'found-a-zero "\\\x00"' "$dir/corpus/one.txt"
is 'a name is used once' fails pack --name found-a-zero one "$dir/files/seed-00"
is 'a name has no other characters' fails pack --name 'found a zero' one "$dir/new"

mkdir "$dir/bad"
is 'a line without quotes is refused' refused 'a b'
is 'an unknown escape is refused' refused 'a "\t"'
is 'an escape in upper case is refused' refused 'a "\x0A"'
is 'a printable byte that is escaped is refused' refused 'a "\x41"'
is 'a lone backslash is refused' refused 'a "\"'
is 'lines in another order are refused' refused '- "a"' 'a "b"'
is 'an input that is there twice is refused' refused '- "a"' '- "a"'
is 'a named input that is there twice is refused' refused 'a "a"' '- "a"'

is 'the corpora of this tree pass their check' "$root/tests/fuzz/pack" --check
is 'each target has one' test "$("$root/tools/list_tests" fuzz | sed 's|.*/||; s|\.c$||')" = \
    "$(cd "$root/tests/fuzz/corpus" && printf '%s\n' *.txt | sed 's/\.txt$//')"
printf '1..%d\n' "$number"
