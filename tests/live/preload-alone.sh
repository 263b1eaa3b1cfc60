#!/bin/bash
# SPDX-License-Identifier: MIT
# LD_PRELOAD=libtailor.so and nothing else: a complete trace; with --tag none libunwind's call stacks name the same
# operators as the tags do, in nearly the same shares.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
for tag in register none; do
	trace=$dir/$tag.tlr
	LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$trace timeout 120 \
		"$B/engine" --query fig9 --scale 0.2 --threads 2 --seconds 2 --tag $tag >"$dir/out" 2>"$dir/err"
	status=$?
	if [ $status != 0 ] || [ -s "$dir/err" ]; then
		echo "the host under LD_PRELOAD: expected exit 0 and silence, got exit $status and:"
		cat "$dir/err"
		exit 1
	fi
	# The recorder runs beside the host and closes the trace after the host's end.
	for _ in $(seq 100); do
		"$B/tailor" report --json "$trace" >"$dir/$tag.json" 2>"$dir/err" && break
		sleep 0.1
	done
	if [ -s "$dir/err" ]; then
		echo "tailor report $trace:"
		cat "$dir/err"
		exit 1
	fi
done
/usr/bin/python3 - "$dir/register.json" "$dir/none.json" <<'PYTHON' || bad=1
import json, sys
shares = []
for path in sys.argv[1:]:
    r = json.load(open(path))
    run = r["run"]
    shares.append({(c["level"], c["id"], c["name"]): c["share"] for c in run["components"] if c["level"] == "operator"})
    print(f"FIGURE {path.split('/')[-1]}: {run['samples']} samples in the run phase, {100 * run['on_operator']:.2f} % on an operator,",
          "methods", ", ".join(f"{k} {v}" for k, v in sorted(r["methods"].items())))
    if run["samples"] < 2000 or run["on_operator"] < 0.99:
        sys.exit(f"{path}: expected 2000 samples or more in the run phase and 99 % on an operator")
if set(shares[0]) != set(shares[1]):
    sys.exit(f"operators by tag: {shares[0]}\noperators by stack: {shares[1]}")
if "tag" in r["methods"] and r["methods"]["tag"]:
    sys.exit("--tag none, and still samples by tag")
worst = max(abs(shares[0][k] - shares[1][k]) for k in shares[0])
print(f"FIGURE largest difference of an operator's share, tags against stacks: {100 * worst:.2f} points")
if worst > 0.10:
    sys.exit(f"operators by tag: {shares[0]}\noperators by stack: {shares[1]}")
PYTHON
exit $bad
