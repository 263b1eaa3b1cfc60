#!/bin/bash
# SPDX-License-Identifier: MIT
# Every rung below root's: as a user who may sample only its own code, where perf events are forbidden (by a seccomp filter; with
# tailor run and preloaded alone), and with the handler's own reading of a thread-local tag.  At least 98 % of the run phase's
# samples are on an operator, and the notices say what was not had.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"; [ -z "${paranoid:-}" ] || echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid' EXIT
tests/hosts/build.sh "$B" || exit 1
bad=0
engine="$B/engine --query fig9 --scale 0.5 --threads 2 --seconds 3"

check() { # NAME TRACE LEAST-SAMPLES METHOD WORDS-OF-A-NOTICE
	"$B/tailor" report --json "$2" >"$dir/json" || { echo "$1: the trace cannot be read"; bad=1; return; }
	/usr/bin/python3 - "$@" "$dir/json" <<'PYTHON' || bad=1
import json, sys
name, trace, least, method, words, path = sys.argv[1:]
r = json.load(open(path))
run = r["run"]
print(f"FIGURE {name}: {run['samples']} samples in the run phase, {100 * run['on_operator']:.2f} % on an operator, methods",
      ", ".join(f"{k} {v}" for k, v in sorted(r["methods"].items()) if v), "lost", r["samples"]["lost"])
if run["samples"] < int(least) or run["on_operator"] < 0.98:
    sys.exit(f"{name}: expected {least} samples and 98 % on an operator")
if r["methods"].get(method, 0) < run["samples"] / 4:
    sys.exit(f"{name}: expected most samples by {method}: {r['methods']}")
if words and not any(words in n["sentence"] for n in r["notices"]):
    sys.exit(f"{name}: expected a notice with '{words}' in {r['notices']}")
PYTHON
}

run() { # NAME TRACE COMMAND...
	local name=$1
	shift
	timeout 120 "$@" >"$dir/out" 2>"$dir/err" || { echo "$name: exit $? of $*"; cat "$dir/err"; bad=1; }
}

run "signal, tag in memory" "$B/tailor" run --sampler signal -o "$dir/m.tlr" -- $engine --tag memory
check "signal, tag in memory" "$dir/m.tlr" 2000 tag ""
run "signal, tag in a register" "$B/tailor" run --sampler signal -o "$dir/r.tlr" -- $engine
check "signal, tag in a register" "$dir/r.tlr" 2000 tag ""
run "perf events forbidden" "$B/hosts/forbid" "$B/tailor" run -o "$dir/f.tlr" -- $engine
check "perf events forbidden" "$dir/f.tlr" 100 tag "perf events are forbidden here"
run "preloaded, forbidden" "$B/hosts/forbid" env "LD_PRELOAD=$B/libtailor.so" "TAILOR_OUTPUT=$dir/p.tlr" $engine
for _ in $(seq 100); do "$B/tailor" report "$dir/p.tlr" >/dev/null 2>&1 && break; sleep 0.1; done
check "preloaded, forbidden" "$dir/p.tlr" 100 tag "perf events are forbidden here"
run "without registers" "$B/tailor" run -q --sampler timer --registers none --stack 0 --frame-pointers -o "$dir/n.tlr" -- \
	"$B/engine" --query fig9 --scale 0.1 --seconds 1
"$B/tailor" report --json "$dir/n.tlr" >"$dir/json"
/usr/bin/python3 - "$dir/json" <<'PYTHON' || bad=1
import json, sys
r = json.load(open(sys.argv[1]))
lost = {l["reason"]: l["count"] for l in r.get("losses", [])}
if r["samples"]["total"] < 20 or lost.get("ring malformed"):
    sys.exit(f"without registers: expected samples, none of them malformed: {r['samples']}, {lost}")
if not any("no callers by frame pointers" in n["sentence"] for n in r["notices"]):
    sys.exit(f"without registers: expected a notice about frame pointers in {r['notices']}")
PYTHON
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	before=$(cat /proc/sys/kernel/perf_event_paranoid)
	if [ "$before" -lt 2 ] && echo 2 2>/dev/null >/proc/sys/kernel/perf_event_paranoid; then paranoid=$before; fi
	mkdir "$dir/nobody" && cp "$B/tailor" "$B/libtailor.so" "$B/engine" "$dir/nobody/"
	chmod 755 "$dir" && chown -R nobody "$dir/nobody"
	run "as nobody" setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs \
		"$dir/nobody/tailor" run -o "$dir/nobody/t.tlr" -- "$dir/nobody/engine" ${engine#* }
	check "as nobody" "$dir/nobody/t.tlr" 2000 tag "kernel.perf_event_paranoid"
else
	echo "skipped: another user cannot be taken on"
fi
exit $bad
