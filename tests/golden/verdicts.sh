#!/bin/bash
# SPDX-License-Identifier: MIT
# The report without --view of traces of several kinds, and how long it is: a screen and a half at most.  ACCEPT=1 takes the new text.
#
# none.tlr: tailor run -r 1 -- /bin/true; plain.tlr: tailor run -r 1000 on a C program; perf.tlr: perf record -k mono -F 500 of the same,
# imported; all three scrubbed.  one.tlr: BUILD/bench/synthetic 1 5 one.tlr; multiplexed.tlr: ... 4000 5 multiplexed.tlr events turns.
set -u
B=$1
dir=tests/golden/verdicts
bad=0
for trace in "$dir"/*.tlr; do
	echo "\$ tailor report ${trace##*/}"
	LC_ALL=C.UTF-8 COLUMNS=80 "$B/tailor" report "$trace"
	echo "\$ tailor report --view warnings ${trace##*/}"
	LC_ALL=C.UTF-8 COLUMNS=80 "$B/tailor" report --view warnings "$trace"
done >"$B/verdicts.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$B/verdicts.out" "$dir/expected.txt"
elif ! diff -u "$dir/expected.txt" "$B/verdicts.out"; then
	echo "tailor report $dir/*.tlr: expected what $dir/expected.txt has (-), got the other (+)"
	bad=1
fi
for trace in tests/golden/*.tlr tests/golden/*/*.tlr; do
	lines=$(COLUMNS=80 "$B/tailor" report "$trace" 2>/dev/null | wc -l)
	[ "$lines" -le 72 ] || { echo "tailor report $trace: expected at most 72 lines, got $lines"; bad=1; }
done

# two processes with one plan: the head adds up what the table of components does
/usr/bin/python3 - "$B/golden-two.tlr" <<'END' || exit 1
import sys
sys.path.insert(0, "tests")
from trace_file import RECORDS, SAMPLES, Trace, deltas, leb, record, samples

PIDS, N = (1000, 1001), 120
body = b""
for pid in PIDS:
    body += record("PROCESS", pid, 1, "/usr/bin/host", "host") + record("LEVEL", pid, 1, 1, "operator", [])
    for i, name in enumerate(("scan", "sort"), 1):
        body += record("COMPONENT", pid, 1, 0, i, name, "")
        body += record("LOAD", pid, pid, pid, 0x10000 * i, 0x10000 * i, 64, i, f"f{i}", b"\x90" * 64)
        body += record("CODE_MAP", pid, 0x10000 * i, 0, [[0, 1, i]])
    body += record("EDGE", pid, 1, 1, 2, 0, 0, "")
trace = Trace()
trace.add(RECORDS, body)
ips = [0x10008 if i % 3 else 0x20008 for i in range(N)]
table = sorted(set(ips))
column = leb(len(table)) + deltas(table) + b"".join(leb(table.index(ip)) for ip in ips)
for n, pid in enumerate(PIDS):
    times = deltas(1000 + 10**6 * (i + n * N) for i in range(N))
    trace.add(SAMPLES, samples(N, [(1, 2, times), (2, 3, leb(pid)), (3, 3, leb(pid)), (5, 4, column), (7, 3, leb(10**6))]))
trace.write(sys.argv[1])
END
head=$(COLUMNS=1000 "$B/tailor" report "$B/golden-two.tlr" 2>"$B/verdicts.err" | head -n 1)
[[ "$head" =~ ^scan:\ 66.7\ %.*\;\ sort:\ 33.3\ %\.$ ]] ||
	{ echo "two processes: expected one scan with 66.7 % and one sort, got: $head"; bad=1; }
said=$("$B/tailor" report --intervals --level operator "$B/golden-two.tlr" 2>&1 >"$B/verdicts.err")
[[ "$said" == *"without --view this has no effect: --intervals, --level" ]] || { echo "--intervals without --view: got: $said"; bad=1; }
exit $bad
