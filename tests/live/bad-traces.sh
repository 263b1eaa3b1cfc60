#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces that are empty, foreign, missing, cut or bit-flipped: one clear sentence, exit 1, what can be read is shown.
. tests/live/begin.bash
record() { # SECONDS
	"$B/tailor" run -q -o "$dir/good.tlr" -- "$B/hosts/busy" $((200 * $1)) >/dev/null # (its status is its result)
	n=$("$B/tailor" report --json "$dir/good.tlr" | sed -n 's/.*"recorded": \([0-9]*\).*/\1/p')
}
gather 100 record || finish
total=$n

expect() { # STATUS PATTERN COMMAND...
	status=$1 pattern=$2
	shift 2
	timeout 300 "$@" >"$dir/out" 2>"$dir/err"
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
judge /usr/bin/python3 - "$dir" "$B" "$total" <<'PYTHON'
import bisect, json, random, re, struct, subprocess, sys
d, b, total = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = bytearray(open(f"{d}/good.tlr", "rb").read())
random.seed(1)
heads = [0]
while heads[-1] < len(data):
    heads.append(heads[-1] + 32 + struct.unpack_from("<I", data, heads[-1] + 8)[0])
heads.pop()
# anywhere, and in the first and the last chunks' lengths, which lead to the chunk behind
places = [random.randrange(len(data)) for _ in range(60)] + [head + i for head in heads[:5] + heads[-3:] for i in range(8, 12)]
for at in places:
    bit, head = 1 << random.randrange(8), heads[bisect.bisect(heads, at) - 1]
    data[at] ^= bit
    open(f"{d}/flipped", "wb").write(data)
    data[at] ^= bit
    for command in (["report", "--json"], ["dump"]):
        p = subprocess.run([f"{b}/tailor"] + command + [f"{d}/flipped"], capture_output=True, timeout=300)
        if p.returncode != 1 or p.stderr.count(b"\n") != 1:
            sys.exit(f"bit {bit} of byte {at} flipped: tailor {command[0]}: expected exit 1 and one sentence, "
                     f"got {p.returncode}: {p.stderr.decode()}")
        if command[0] == "report" and json.loads(p.stdout)["samples"]["recorded"] > total:
            sys.exit(f"bit {bit} of byte {at} flipped: more samples than were recorded")
        # the last chunk's length may also be one that was cut
        said = re.search(rb"(?:the first at|the end is missing from) byte (\d+)", p.stderr)
        if not said or int(said[1]) != head:
            sys.exit(f"bit {bit} of byte {at} flipped: tailor {command[0]}: expected the chunk that holds it, at byte {head}, "
                     f"got {p.stderr.decode()}")
PYTHON
finish
