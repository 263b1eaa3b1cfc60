#!/bin/bash
# SPDX-License-Identifier: MIT
# Addresses that are computed from the sampled registers and the instruction's bytes lie in the memory that the instruction really
# touches: in the first execution of a query all named memory is protected, so that each access faults and is written down (witness.c);
# the executions after it are sampled.  Of the samples whose address or whose instruction has to do with named memory, at least 99 % must
# name memory that their instruction was seen to touch.
set -u
B=$1
tests/hosts/build.sh "$B" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for query in q6 q3; do
	timeout 120 "$B/tailor" run -q -o "$dir/t.tlr" --registers all -- \
		env WITNESS="$dir/witness" LD_PRELOAD="$B/hosts/libwitness.so:$B/libtailor.so" \
		"$B/engine" --query $query --scale 0.02 --threads 1 --seconds 6 >"$dir/log" 2>&1 ||
		{ echo "tailor run --registers all -- engine --query $query, with a witness: expected exit status 0, got $?"
			tail -3 "$dir/log"; exit 1; }
	"$B/tailor" export --format csv "$dir/t.tlr" >"$dir/samples" || exit 1
	/usr/bin/python3 - "$dir/witness" "$dir/samples" $query <<'END' || exit 1
import collections, csv, sys

seen = collections.defaultdict(set)
for line in open(sys.argv[1]):
    ip, times, name = line.rstrip("\n").split(" ", 2)
    seen[int(ip, 16)].add(name)
names = set().union(*seen.values())
right, wrong = 0, collections.Counter()
for r in csv.DictReader(open(sys.argv[2])):
    ip = int(r["ip"], 16)
    if r["mode"] != "user" or int(r["address"], 16) == 0 or (ip not in seen and r["memory"] not in names):
        continue
    if r["memory"] in seen[ip]:
        right += 1
    else:
        wrong[f"{r['function']} at {r['ip']}: {r['address']}, in {r['memory'] or 'nothing'}, touches {sorted(seen[ip])}"] += 1
total = right + sum(wrong.values())
print(f"FIGURE {sys.argv[3]}: {right} of {total} computed addresses are in the memory that their instruction touches, "
      f"of {len(seen)} instructions and {len(names)} named kinds of memory")
if total < 100:
    sys.exit(f"expected at least 100 samples with an address, got {total}")
if right < 0.99 * total:
    sys.exit("expected 99 %; others:\n" + "\n".join(f"{n} x {t}" for t, n in wrong.most_common(10)))
END
done
