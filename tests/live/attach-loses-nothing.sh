#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor attach` to a process whose lists of generated code take long to read: a ring, 300,000 entries without a symbol, and 200,000 words
# that look like such a list.  It loses no samples meanwhile, and names the code, which is the oldest of all entries.
# Rights: the recorder's priority is the user's
. tests/live/begin.bash
trap 'kill -9 ${pid:-} 2>/dev/null; rm -rf "$dir"' EXIT

attach() { # SECONDS; leaves the number of samples in generated code in $n
	timeout 300 "$B/tailor" attach -o "$dir/t.tlr" --duration "$1" $pid 2>"$dir/said" || {
		fail "tailor attach: exit $?: $(cat "$dir/said")"
		return 1
	}
	"$B/tailor" report --json "$dir/t.tlr" >"$dir/json" || { fail "report: exit $?"; return 1; }
	n=$(/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["jit"]["samples"])' "$dir/json")
}

# A recorder that others keep from a processor says at the end that lists are left: no evidence.
named() {
	/usr/bin/python3 - "$dir/json" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))
jit, hot = r["jit"]["samples"], sum(f["samples"] for f in r["functions"] if f["name"] == "hidden_hot" and f["generated"])
print(f"FIGURE {jit} samples in generated code, {hot} in hidden_hot")
said = [n["sentence"] for n in r["notices"]]
if hot < 0.99 * jit and any("not read completely" in sentence for sentence in said):
    sys.exit(77)
if hot < 0.99 * jit:
    print(f"expected 99 % of the {jit} samples in generated code to be in hidden_hot, got {hot}: {said}")
    sys.exit(1)
PYTHON
}

# A recorder that does not run at all for a while, on a machine that others keep busy, may lose some: most blocks have to lose none.
block() {
	n=0
	attach 1 || return 2
	[ "$n" -ge 100 ] || return 77
	lost=$(sed -n 's/.*; ring full: \([0-9]*\).*/\1/p' "$dir/said")
	echo "FIGURE $n samples, ${lost:-0} lost"
	[ "${lost:-0}" = 0 ]
}

begun() { grep -q begun "$dir/err"; }
"$B/hosts/many_jit_lists" "$B/hosts/hidden_hot.o" >/dev/null 2>"$dir/err" &
pid=$!
wait_for begun || finish
status=77
for ((seconds = 1; seconds <= 64 && status == 77; seconds *= 2)); do # a user's recorder has no priority, and may need long beside others
	attach $seconds || break
	[ "$n" -lt 500 ] || { named; status=$?; }
done
case $status in
0) ;;
77) undecided "the lists were not read completely in recordings of up to $((seconds / 2)) s" ;;
*) fail "the code has other names, or none" ;;
esac
decide "attach loses no samples while it reads long lists" block
kill $pid
wait $pid 2>/dev/null
pid=
finish
