#!/bin/bash
# SPDX-License-Identifier: MIT
# Every rung below root's: as a user without privileges, where perf events are forbidden (by a seccomp filter; with tailor run and
# preloaded alone), and with the handler's own reading of a thread-local tag.  At least 98 % of the run phase's samples are on an
# operator, a quarter or more by the method that the rung is for, and the notices name each unavailable way.
# Rights: which samplers can be had
. tests/live/begin.bash
engine=("$B/engine" --query fig9 --scale 0.1 --threads 2)
BLOCK=50 # samples of a block

run() { # NAME COMMAND...
	local name=$1 status
	shift
	timeout 300 "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status = 0 ] || fail "$name: expected exit 0, got $status of $*: $(cat "$dir/err")"
	return $status
}

# How each way records: WAY EXECUTIONS, into $dir/t.tlr.
memory() { run "$1" "$B/tailor" run -q --sampler signal -o "$dir/t.tlr" -- "${engine[@]}" --tag memory --repeat "$2"; }
register() { run "$1" "$B/tailor" run -q --sampler signal -o "$dir/t.tlr" -- "${engine[@]}" --repeat "$2"; }
forbidden() { run "$1" "$B/hosts/forbid" "$B/tailor" run -q -o "$dir/t.tlr" -- "${engine[@]}" --repeat "$2"; }
complete() { "$B/tailor" report --json "$dir/t.tlr" 2>/dev/null | grep -q '"complete": true'; }
preloaded() {
	rm -f "$dir/t.tlr"
	run "$1" "$B/hosts/forbid" env "LD_PRELOAD=$B/libtailor.so" "TAILOR_OUTPUT=$dir/t.tlr" "${engine[@]}" --repeat "$2" &&
		wait_for complete
}
# root takes on another user; everybody else has no privileges anyway
as_other=() mine=$dir/mine
unprivileged() {
	run "$1" "${as_other[@]}" "$mine/tailor" run -q -o "$mine/t.tlr" -- "$mine/engine" "${engine[@]:1}" --repeat "$2" &&
		mv "$mine/t.tlr" "$dir/t.tlr"
}

# One recording: 0 and 1 as `decide` wants them, 77 for too few samples, 2 for what needs no more evidence.
# A block agrees with near certainty if the claim is true: 99.5 % or more are on an operator and 90 % by the method, in recordings of any
# length and under any load, for load delays the threads but does not change what they do; of 50 samples two or more would have to be
# elsewhere.  If a rung loses its tag, the called runtime (two thirds of the samples) is on no operator, and each block contradicts: one
# that agrees is enough.
block() { # WAY METHOD WORDS NR
	"$1" "$1" $executions || return 2
	"$B/tailor" report --json "$dir/t.tlr" >"$dir/json" || return 2
	/usr/bin/python3 - "$@" "$dir/json" $BLOCK <<'PYTHON'
import json, sys
way, method, words, nr, path, least = sys.argv[1:]
r = json.load(open(path))
run, figure = r["run"], "FIGURE " if nr == "0" else ""
print(f"{figure}{way}: {run['samples']} samples in the run phase, {100 * run['on_operator']:.2f} % on an operator, methods",
      ", ".join(f"{k} {v}" for k, v in sorted(r["methods"].items()) if v), "lost", r["samples"]["lost"])
sentences = [n["sentence"] for n in r["notices"]]
# WORDS is to stand in a notice; !WORDS is to stand in none
if any(words.lstrip("!") in s for s in sentences) == words.startswith("!") and words:
    print(f"{way}: expected {'no' if words.startswith('!') else 'a'} notice with '{words.lstrip('!')}', got {sentences}")
    sys.exit(2)
if words.startswith("kernel samples unavailable") and r["samples"]["kernel"]:
    print(f"{way}: expected no samples of the kernel, which may not be sampled, got {r['samples']['kernel']}")
    sys.exit(2)
if run["samples"] < int(least):
    sys.exit(77)
sys.exit(run["on_operator"] < 0.98 or r["methods"].get(method, 0) < run["samples"] / 4)
PYTHON
	local status=$?
	[ $status != 77 ] || executions=$((2 * executions)) # the next one has more
	return $status
}

check() { # WAY METHOD WORDS-OF-A-NOTICE
	executions=15
	decide --sure "$1: 98 % of the run phase's samples are on an operator, a quarter of them by $2" block "$1" "$2" "$3"
}

check memory tag ""
check register tag ""
if "$B/hosts/forbid" true; then
	check forbidden tag "perf events unavailable"
	check preloaded tag "perf events unavailable"
else
	undecided "a seccomp filter cannot be had here"
fi

# What an unprivileged user may, the setting says: this test leaves it as it is.
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$paranoid" -gt 2 ]; then
	words="perf events unavailable" # Debian and others: to everybody but root
elif [ "$paranoid" = 2 ]; then
	words="kernel samples unavailable (not permitted: kernel.perf_event_paranoid)"
else
	words="!kernel.perf_event_paranoid"
fi
mkdir "$mine" && cp "$B/tailor" "$B/tailor-record" "$B/libtailor.so" "$B/engine" "$mine/"
if [ "$(id -u)" != 0 ]; then
	check unprivileged tag "$words"
elif command -v setpriv >/dev/null; then
	chmod 755 "$dir" && chown -R nobody "$mine"
	as_other=(setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs)
	check unprivileged tag "$words"
else
	undecided "another user cannot be taken on, for there is no setpriv"
fi

# a recording that has neither registers nor stack is none of malformed samples
bare() { # SECONDS
	run "without registers" "$B/tailor" run -q --sampler timer --registers none --stack 0 --frame-pointers -o "$dir/t.tlr" -- \
		"${engine[@]}" --repeat $((15 * $1)) && "$B/tailor" report --json "$dir/t.tlr" >"$dir/json" || { bad=1; return 1; }
	n=$(/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["samples"]["total"])' <"$dir/json")
}
gather 20 bare && judge /usr/bin/python3 - "$dir/json" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
lost = {l["reason"]: l["count"] for l in r.get("losses", [])}
if lost.get("ring malformed"):
    sys.exit(f"without registers: expected no malformed samples: {r['samples']}, {lost}")
if not any("callchains by frame pointers unavailable" in n["sentence"] for n in r["notices"]):
    sys.exit(f"without registers: expected a notice about frame pointers in {r['notices']}")
PYTHON
finish
