#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces that are empty, foreign, missing, cut or bit-flipped: one clear sentence, exit 1, what can be read is shown.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/hosts/build.sh "$B" || exit 1
"$B/tailor" run -q -o "$dir/good.tlr" -- "$B/hosts/busy" 200 >/dev/null
bad=0
total=$("$B/tailor" report --json "$dir/good.tlr" | sed -n 's/.*"recorded": \([0-9]*\).*/\1/p')

expect() { # STATUS PATTERN COMMAND...
	status=$1 pattern=$2
	shift 2
	timeout 60 "$@" >"$dir/out" 2>"$dir/err"
	got=$?
	lines=$(wc -l <"$dir/err")
	if [ $got != "$status" ] || ! grep -qE "$pattern" "$dir/err" || [ "$lines" != 1 ]; then
		echo "$*: expected exit $status and one sentence like '$pattern', got exit $got and: $(cat "$dir/err")"
		bad=1
	fi
}
: >"$dir/empty"
head -c 5000 /bin/ls >"$dir/foreign"
head -c 10 "$dir/good.tlr" >"$dir/short"
for command in report dump; do
	expect 1 'the file is empty' "$B/tailor" $command "$dir/empty"
	expect 1 'not a trace' "$B/tailor" $command "$dir/foreign"
	expect 1 'not a trace' "$B/tailor" $command "$dir/short"
	expect 1 'No such file' "$B/tailor" $command "$dir/none"
	expect 1 'not a regular file' "$B/tailor" $command "$dir"
done
[ $bad = 0 ] || exit 1

# cut at many places: what is whole before the cut is shown
bytes=$(stat -c %s "$dir/good.tlr")
for n in 1 2 3 4 5 6 7 8 9; do
	head -c $((bytes * n / 10)) "$dir/good.tlr" >"$dir/cut"
	expect 1 'the end is missing from byte [0-9]+ on|at byte [0-9]+\), and the end is missing' "$B/tailor" report --json "$dir/cut"
	kept=$(sed -n 's/.*"recorded": \([0-9]*\).*/\1/p' "$dir/out")
	[ -n "$kept" ] && [ "$kept" -le "$total" ] || { echo "cut at $n/10: expected at most $total samples, got '$kept'"; bad=1; }
done
# a flipped bit anywhere costs one chunk, and is said, with the place
/usr/bin/python3 - "$dir" "$B" "$total" <<'PYTHON' || bad=1
import json, random, re, subprocess, sys
d, b, total = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = bytearray(open(f"{d}/good.tlr", "rb").read())
random.seed(1)
for n in range(60):
    at, bit = random.randrange(len(data)), 1 << random.randrange(8)
    data[at] ^= bit
    open(f"{d}/flipped", "wb").write(data)
    data[at] ^= bit
    for command in (["report", "--json"], ["dump"]):
        p = subprocess.run([f"{b}/tailor"] + command + [f"{d}/flipped"], capture_output=True, timeout=60)
        if p.returncode != 1 or p.stderr.count(b"\n") != 1:
            sys.exit(f"bit {bit} of byte {at} flipped: tailor {command[0]}: expected exit 1 and one sentence, "
                     f"got {p.returncode}: {p.stderr.decode()}")
        said = re.search(rb"the first at byte (\d+)\)", p.stderr)
        if not said or not int(said[1]) <= at or data[int(said[1]) : int(said[1]) + 4] != b"TLRC":
            sys.exit(f"bit {bit} of byte {at} flipped: expected the chunk that holds it, got {p.stderr.decode()}")
    if json.loads(subprocess.run([f"{b}/tailor", "report", "--json", f"{d}/flipped"], capture_output=True).stdout
                  )["samples"]["recorded"] > total:
        sys.exit("more samples than were recorded")
PYTHON
exit $bad
