#!/bin/bash
# SPDX-License-Identifier: MIT
# LD_PRELOAD=libtailor.so and nothing else: a complete trace; with --tag none libunwind's call stacks name the same
# operators as the tags do, in nearly the same shares.
# Rights: rings have locked memory
. tests/live/begin.bash
TAILOR_EVENT=$(plain_event) # which needs no notice
export TAILOR_EVENT

# The recorder runs beside the host and closes the trace after the host's end: a report waits for it, ten seconds at most.
closed() {
	"$B/tailor" report --json "$dir/$1.tlr" >"$dir/$1.json" 2>"$dir/err" && [ ! -s "$dir/err" ] &&
		grep -q '"complete": *true' "$dir/$1.json"
}

record() { # TAG SECONDS
	rm -f "$dir/$1.tlr"
	LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$dir/$1.tlr timeout 300 \
		"$B/engine" --query fig9 --scale 0.2 --threads 2 --seconds "$2" --tag "$1" >"$dir/out" 2>"$dir/err"
	status=$?
	if [ $status != 0 ] || [ -s "$dir/err" ]; then
		fail "the host under LD_PRELOAD: expected exit 0 and silence, got exit $status and:"
		cat "$dir/err"
		return 2
	fi
	closed "$1" || { grep -q 'still being recorded' "$dir/err" && wait_for closed "$1"; } || { cat "$dir/err"; return 2; }
}

# A block is a recording by tags and one by stacks, of 2000 samples or more each.  It agrees if each operator's shares differ by 10 points
# (of 100) at most, and 99 % of the samples are on an operator.  Of so many samples the difference has a standard deviation of 1.6 points
# or less, and of 4.5 on a machine so busy that each recording's shares are off by 3; 99.8 % are on an operator.  Where stacks give an
# operator's samples to another one, 40 points or more of fig9's two large ones move: one block that agrees is enough.  What all samples
# have to say is exact.
milliseconds=500
block() {
	local seconds
	seconds=$(printf '%d.%03d' $((milliseconds / 1000)) $((milliseconds % 1000)))
	record register "$seconds" && record none "$seconds" || return 2
	/usr/bin/python3 - "$dir/register.json" "$dir/none.json" <<'PYTHON'
import json, sys

agrees, few, shares = True, False, []
for path in sys.argv[1:]:
    kind = path.split("/")[-1]
    r = json.load(open(path))
    run, methods = r.get("run") or {"samples": 0}, {m: n for m, n in r["methods"].items() if n}
    few |= run["samples"] < 2000
    if not run["samples"]:
        continue
    shares.append({(c["level"], c["id"], c["name"]): c["share"] for c in run["components"] if c["level"] == "operator"})
    print(f"FIGURE {kind}: {run['samples']} samples in the run phase, {100 * run['on_operator']:.2f} % on an operator,",
          "methods", ", ".join(f"{k} {v}" for k, v in sorted(methods.items())))
    agrees &= run["on_operator"] >= 0.99
if len(shares) == 2 and set(shares[0]) != set(shares[1]):
    print(f"expected the same operators by tag, {shares[0]}, and by stack, {shares[1]}")
    sys.exit(2)
if "tag" in methods:  # the last one's
    print("--tag none: expected no samples by tag, got", methods)
    sys.exit(2)
if few:
    sys.exit(77)
worst = max(abs(shares[0][k] - shares[1][k]) for k in shares[0])
print(f"FIGURE largest difference of an operator's share, tags against stacks: {100 * worst:.2f} points")
sys.exit(0 if agrees and worst <= 0.10 else 3)
PYTHON
	case $? in
	0) return 0 ;;
	3) return 1 ;;
	77) milliseconds=$((2 * milliseconds)); return 77 ;;
	*) return 2 ;;
	esac
}
decide --sure "without tags, operators have the shares, to 10 points, that they have with tags, and 99 % of the samples are on one" block
finish
