#!/bin/bash
# SPDX-License-Identifier: MIT
# The worked examples of jitreg/GUIDE.md: engines on LLVM's ORC, libgccjit and AsmJit, one that emits C, a vectorised interpreter, and tasks
# that are coroutines.  Each has at most 60 lines for the profiler; without these it compiles, and has the same result, as it has with an
# agent and without one.  `tailor check` finds nothing in what it announces; each operator's share is within 3 points of the planted work
# (of the interpreter: of the processor time that it counts for itself), and the greatest share within the interval that the report gives.
# `tailor check` finds nothing in a recording that began and ended while the example ran, either.
set -u
. tests/evidence.bash
B=$(cd "$1" && pwd) || exit 1
command -v g++ >/dev/null || skip "g++ is missing: other compilers cannot keep a register free"
dir=$(mktemp -d -p /tmp) # the emitted library lies there: in other folders it would not be generated code
host=
trap '[ -z "$host" ] || kill -9 "$host" 2>/dev/null; rm -rf "$dir"' EXIT
tests/examples/build.sh "$B" || exit 1
EXAMPLES="emits_c llvm_orc libgccjit asmjit vectorized tasks"
LINES=60
WANTED=2000
POINTS=3
FEW=5 # rounds

# Its arguments for so many rounds, in $words; $options: how it is recorded.
command_of() { # PROGRAM ROUNDS
	words=("$B/examples/$1")
	options=()
	case $1 in
	emits_c*) words+=("$dir" "$2") ;;
	tasks*) words+=($((12 * $2))) options=(--sampler signal) ;; # a thread-local word, as below
	libgccjit*) words+=("$2") options=(--sampler signal) ;;
	vectorized*) words+=($((4 * $2))) options=(--sampler signal) ;;
	*) words+=("$2") ;;
	esac
}

# Lines for the profiler, but for lone braces.
lines_of() { grep -hE '(//|/\*) jitreg(, else: .*)?( \*/)?$' tests/examples/"$1".c* | grep -cvE '^[[:space:]]*[{}];?[[:space:]]*/'; }

result() { # WHAT COMMAND...
	local what=$1
	shift
	timeout 300 "$@" >"$dir/out" 2>"$dir/err" || fail "$what: expected exit 0, got $?: $(cat "$dir/err")"
	grep '^result' "$dir/out"
}

is_small_and_changes_nothing() { # EXAMPLE
	local nr without plain recorded
	nr=$(lines_of "$1")
	echo "FIGURE lines for the profiler in tests/examples/$1: $nr of at most $LINES"
	[ "$nr" -gt 0 ] && [ "$nr" -le $LINES ] || fail "$1: expected 1 to $LINES lines for the profiler, counted $nr"
	! grep -qi jitreg "$B/examples/without_$1".c* || fail "$1 without its lines: jitreg is left in $B/examples/without_$1"
	command_of "$1-without" $FEW
	without=$(result "$1 without its lines" "${words[@]}")
	command_of "$1" $FEW
	plain=$(result "$1" "${words[@]}")
	recorded=$(result "tailor check -- $1" "$B/tailor" check -e "$(plain_event)" "${options[@]}" -- "${words[@]}")
	[ "$plain" ] && [ "$without" = "$plain" ] && [ "$recorded" = "$plain" ] ||
		fail "$1: expected one result, got '$without' without its lines, '$plain' with them, '$recorded' under tailor check"
}

# record EXAMPLE SECONDS: $n samples in the run phase; its trace, its own count, its report
record() {
	command_of "$1" $(($2 * 50)) # a third of a second, about; gather finds out
	timeout 300 "$B/tailor" run -q -e "$(plain_event)" --rate "$(allowed_rate 10000)" "${options[@]}" -o "$dir/t.tlr" -- \
		"${words[@]}" >"$dir/counted" 2>"$dir/err" ||
		{ fail "tailor run -- $1: exit $?: $(cat "$dir/err")"; return 1; }
	timeout 300 "$B/tailor" report --json "$dir/t.tlr" >"$dir/json" 2>"$dir/err" ||
		{ fail "tailor report: exit $?: $(cat "$dir/err")"; return 1; }
	seconds=$2
	n=$(/usr/bin/python3 -c 'import json, sys
print(json.load(sys.stdin)["run"]["samples"])' <"$dir/json")
}

# A block: a recording of WANTED samples or more, whose standard error is 1.1 points for a share of 60 % and less for others; three points
# are 2.7 of them, and the interval holds 95 of 100.  Branches that are mispredicted where loops end move the planted shares by 0.1 points.
# So a block agrees in more than 9 of 10 if the shares are right.  Calls under a wrong tag, or without one, and lines without their
# operator make 5 points and more, which one block in 30 takes for less than 3, or are in no operator, where of the run phase one sample in
# a hundred or fewer is: two blocks that agree are enough.
block() { # EXAMPLE NUMBER
	# the first one is what was gathered: how many samples it has says nothing of its shares
	[ "$2" = 0 ] || record "$1" "$seconds" || return 2
	[ "$n" -ge "$WANTED" ] || { seconds=$((2 * seconds)); return 77; } # the next one has more
	timeout 300 "$B/tailor" check "$dir/t.tlr" >"$dir/check" 2>&1 ||
		{ echo "tailor check: expected exit 0, got $?: $(cat "$dir/check")"; return 2; }
	timeout 300 "$B/tailor" report "$dir/t.tlr" >"$dir/text" || { echo "tailor report: exit $?"; return 2; }
	/usr/bin/python3 - "$1" "$POINTS" "$dir/counted" "$dir/json" "$dir/text" <<'PY'
import json
import re
import sys

example, points = sys.argv[1], float(sys.argv[2])
counted = {name: float(s) for name, s in (line.split() for line in open(sys.argv[3])) if name != "result"}
run = json.load(open(sys.argv[4]))["run"]
weight = {c["name"]: c["weight"] for c in run["components"] if c["level"] == "operator"}
if set(counted) != set(weight) or not sum(weight.values()) or run["on_operator"] < 0.95:
    print(f"{example}: expected 95 % of the run phase on {sorted(counted)}, got {run['on_operator']:.1%} on {weight}")
    sys.exit(2)
share = {name: (100 * weight[name] / sum(weight.values()), 100 * s / sum(counted.values())) for name, s in counted.items()}
greatest = max(share, key=lambda name: share[name][0])
text = " ".join(open(sys.argv[5]).read().split())
interval = re.match(rf"{greatest}: [\d.]+ % of the run phase \(95 % interval: ([\d.]+) to ([\d.]+) %\)", text)
if not interval:
    print(f"{example}: expected the interval of {greatest} in the report's first line, got: {text[:200]}")
    sys.exit(2)
low, high = map(float, interval.groups())
print(f"{example}: " + ", ".join(f"{name} {got:.1f} % of {own:.1f} %" for name, (got, own) in share.items()) +
      f"; {greatest}: {low} to {high} %")
sys.exit(any(abs(got - own) > points for got, own in share.values()) or not low <= share[greatest][1] <= high)
PY
}

# late EXAMPLE TIMES: $n samples in the run phase, $on_operator per cent of them, of a part of its time
late() {
	timeout 300 "$B/tailor" start --rate "$(allowed_rate 10000)" -o "$dir/late.tlr" "$host" >"$dir/err" 2>&1 &&
		sleep $(($2 / 4)).$((25 * ($2 % 4))) && timeout 300 "$B/tailor" stop "$host" >"$dir/err" 2>&1 ||
		{ fail "$1: tailor start, stop: exit $?: $(cat "$dir/err")"; return 1; }
	read -r n on_operator < <("$B/tailor" report --json "$dir/late.tlr" | /usr/bin/python3 -c 'import json, sys
run = json.load(sys.stdin)["run"]
print(run["samples"], round(100 * run["on_operator"]))')
}

has_dormant_child() { host=$(pgrep -P "$1" | head -n 1) && "$B/tailor" status "$host" 2>/dev/null | grep -q 'is dormant'; }

is_right_when_recorded_late() { # EXAMPLE
	local run
	command_of "$1" 1000000
	"$B/tailor" run --dormant -- "${words[@]}" >"$dir/out" 2>&1 &
	run=$!
	wait_for has_dormant_child $run || return
	if gather $WANTED late "$1"; then
		# without words, which the kernel cannot read
		[ ${#options[@]} -gt 0 ] || [ "$on_operator" -ge 95 ] ||
			fail "$1, recorded late: expected 95 % on operators, got $on_operator %"
		timeout 300 "$B/tailor" check "$dir/late.tlr" >"$dir/check" 2>&1 ||
			fail "$1, recorded late: tailor check: expected exit 0, got $?: $(cat "$dir/check")"
	fi
	kill "$host"
	host=
	wait $run
}

missing=
for example in $EXAMPLES; do
	[ -x "$B/examples/$example" ] || { missing+=" $example"; continue; }
	is_small_and_changes_nothing $example
	is_right_when_recorded_late $example
	seconds=1
	gather $((3 * WANTED / 2)) record $example &&
		decide --wrong 0.05 "$example: shares are within $POINTS points of the work, and the greatest within its interval" \
			block $example
done
[ -z "$missing" ] || undecided "a library of these examples is not installed (libgccjit-12-dev, libasmjit-dev, llvm-14-dev):$missing"
finish
