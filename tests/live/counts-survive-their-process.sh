#!/bin/bash
# SPDX-License-Identifier: MIT
# Execution counts are exact however a process ends: each of the n-queens program's counters is in the trace with what the program counted
# itself, after its exit, kill -9, the end of the block (whose memory others then use), beside a forked child that counts, in a dormant
# recording that begins later (which has what was counted before, too), and at the end of a recording beside a process that goes on.
. tests/live/begin.bash
cat >"$dir/compare.py" <<'PYTHON'
import json, subprocess, sys
B, trace, said = sys.argv[1:]
truth, counters = {}, None
for line in open(said):
    word = line.split()
    if word[0] == "arc":
        truth[int(word[1]), int(word[2])] = int(word[3])
    if word[0] == "counters":
        counters = int(word[1])
block, values = {}, {}
for line in subprocess.run([B + "/tailor", "dump", "--json", trace], stdout=subprocess.PIPE, check=True, timeout=300).stdout.splitlines():
    r = json.loads(line)
    if r["record"] == "COUNTER_BLOCK":
        block.setdefault(r["fields"]["block"], r["fields"]["entries"])
    if r["record"] == "COUNTER_VALUES":
        values[r["fields"]["block"]] = [v["count"] for v in r["fields"]["values"]]
first = min(block)
if len(block[first]) != counters:
    sys.exit(f"expected {counters} counters, got {len(block[first])}")
for entry, value in zip(block[first], values[first]):
    expected = truth[entry["component"], entry["at"]]
    if expected != value:
        sys.exit(f"arc {entry['at']} of procedure {entry['component']}: expected {expected}, got {value}")
print(len(truth), "arcs,", counters, "counters, of which all are right")
PYTHON
compare() { /usr/bin/python3 "$dir/compare.py" "$B" "$dir/t.tlr" "$dir/said" || fail "$1"; }
for how in "minimal exit" "all exit" "minimal kill" "all kill" "minimal end" "minimal fork"; do
	timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/queens" 7 $how >"$dir/said"
	compare "$how"
done
# a recording that ends before its process
rm "$dir/said" # an earlier process said the same
said() { grep -q 'call 10' "$dir/said"; }
timeout 300 "$B/hosts/queens" 7 all wait >"$dir/alone" & # without an agent: what it counts goes nowhere
alone=$!
TAILOR_DORMANT=1 TAILOR_OUTPUT=$dir/t.tlr LD_PRELOAD=$B/libtailor.so timeout 300 "$B/hosts/queens" 7 all wait >"$dir/said" &
host=$!
wait_for said
pid=$(pgrep -P $host -x queens)
timeout 60 "$B/tailor" start -o "$dir/t.tlr" "$pid" || fail "the dormant recorder cannot be started"
timeout 60 "$B/tailor" stop "$pid" || fail "the dormant recorder cannot be stopped"
compare "dormant"
"$B/tailor" dump "$dir/t.tlr" | grep -q 'COUNTER_VALUES.* flags=2 ' || fail "what was counted before a recording is not in it"
kill "$pid" "$host" "$alone" 2>/dev/null
wait 2>/dev/null
diff <(grep -v '^run' "$dir/alone") "$dir/said" >/dev/null || fail "a host with an agent says something else than without"
finish
