#!/bin/bash
# SPDX-License-Identifier: MIT
# The worked examples of jitreg/GUIDE.md: an engine that emits C, and a vectorised interpreter.  Each builds, `tailor check` finds nothing
# in what it announces, and each operator's share is within 3 points of the processor time that the example itself counts for it.
set -u
. tests/evidence.bash
B=$(cd "$1" && pwd) || exit 1
command -v gcc >/dev/null || skip "gcc is missing: other compilers cannot keep a register free"
dir=$(mktemp -d -p /tmp) # the emitted library lies there: in other folders it would not be generated code
trap 'rm -rf "$dir"' EXIT
WANTED=2000
POINTS=3
ROUNDS_A_SECOND=1000 # here; where it is other, gather finds out

gcc -O1 -g -Wall -Wextra -ffixed-r13 -DJITREG_FIXED_R13 -rdynamic -Ijitreg -o "$dir/emits_c" tests/examples/emits_c.c -ldl &&
	gcc -O1 -g -Wall -Wextra -Ijitreg -o "$dir/vectorized" tests/examples/vectorized.c -ldl || fail "an example does not compile"
[ $bad = 0 ] || finish

# record EXAMPLE SECONDS: $n samples in the run phase; its trace, its own count, its report
record() {
	local words=("$dir/$1")
	local options=()
	case $1 in
	emits_c) words+=("$dir") ;;
	vectorized) options=(--sampler signal) ;; # a thread-local word
	esac
	timeout 300 "$B/tailor" run -q -e "$(plain_event)" --rate "$(allowed_rate 10000)" "${options[@]}" -o "$dir/t.tlr" -- \
		"${words[@]}" $(($2 * ROUNDS_A_SECOND)) >"$dir/counted" 2>"$dir/err" ||
		{ fail "tailor run -- $1: exit $?: $(cat "$dir/err")"; return 1; }
	timeout 300 "$B/tailor" report --json "$dir/t.tlr" >"$dir/json" 2>"$dir/err" ||
		{ fail "tailor report: exit $?: $(cat "$dir/err")"; return 1; }
	seconds=$2
	n=$(/usr/bin/python3 -c 'import json, sys
print(json.load(sys.stdin)["run"]["samples"])' <"$dir/json")
}

# A block: a recording of WANTED samples or more, whose standard error is 1.1 points for a share of 60 % and less for others; three points
# are 2.7 of them, so a block agrees in more than 98 of 100 if the shares are right.  Calls under a wrong tag, or without one, and lines
# without their operator make 5 points and more, or are in no operator, where of the run phase one sample in a hundred or fewer is.
block() { # EXAMPLE NUMBER
	record "$1" "$seconds" || return 2
	[ "$n" -ge "$WANTED" ] || return 77
	timeout 300 "$B/tailor" check "$dir/t.tlr" >"$dir/check" 2>&1 ||
		{ echo "tailor check: expected exit 0, got $?: $(cat "$dir/check")"; return 2; }
	/usr/bin/python3 - "$1" "$POINTS" "$dir/counted" "$dir/json" <<'END'
import json
import sys

example, points = sys.argv[1], float(sys.argv[2])
counted = {name: float(s) for name, s in (line.split() for line in open(sys.argv[3]))}
run = json.load(open(sys.argv[4]))["run"]
weight = {c["name"]: c["weight"] for c in run["components"] if c["level"] == "operator"}
if set(counted) != set(weight) or not sum(weight.values()) or run["on_operator"] < 0.95:
    print(f"{example}: expected 95 % of the run phase on {sorted(counted)}, got {run['on_operator']:.1%} on {weight}")
    sys.exit(2)
share = {name: (100 * weight[name] / sum(weight.values()), 100 * s / sum(counted.values())) for name, s in counted.items()}
print(f"{example}: " + ", ".join(f"{name} {got:.1f} % of {own:.1f} %" for name, (got, own) in share.items()))
sys.exit(any(abs(got - own) > points for got, own in share.values()))
END
}

for example in emits_c vectorized; do
	seconds=1
	gather $((2 * WANTED)) record $example &&
		decide "$example: each operator's share is within $POINTS points of its processor time" block $example
done
finish
