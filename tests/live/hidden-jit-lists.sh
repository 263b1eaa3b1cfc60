#!/bin/bash
# SPDX-License-Identifier: MIT
# A stripped program with a JIT in it, whose list for debuggers no symbol leads to: its code has a name under `tailor run` and
# `tailor attach`, as it has where the program's own symbol table tells of the list; output and exit status are its own.
. tests/live/begin.bash

check() { # NAME
	"$B/tailor" report --json "$dir/t.tlr" >"$dir/json" || bad=1
	/usr/bin/python3 - "$1" "$dir/json" <<'PYTHON' || bad=1
import json, sys
r = json.load(open(sys.argv[2]))
jit = r["jit"]
hot = sum(f["samples"] for f in r["functions"] if f["name"] == "hidden_hot" and f["generated"])
print(f"FIGURE {sys.argv[1]}: {jit['samples']} samples in generated code, {hot} in hidden_hot")
if jit["samples"] < 500 or hot < 0.99 * jit["samples"]:
    sys.exit(f"{sys.argv[1]}: expected 99 % of at least 500 samples in generated code to be in hidden_hot")
names = {f["name"] for f in r["functions"] if f["generated"]} - {"hidden_hot"}
if names - {n for n in names if n.startswith("anonymous code")}:
    sys.exit(f"{sys.argv[1]}: expected no other names, got {names}")
PYTHON
}

nm "$B/hosts/hidden_jit" 2>&1 | grep -q 'no symbols' || { echo "expected a program without symbols"; exit 1; }
for host in hidden_jit hidden_jit-unstripped; do
	out=$(timeout 60 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/$host" "$B/hosts/hidden_hot.o" 1.5)
	[ "$?,$out" = 0,1 ] || { echo "$host: expected exit 0 and '1', got '$out'"; bad=1; }
	check "run $host"
done
"$B/hosts/hidden_jit" "$B/hosts/hidden_hot.o" 20 >/dev/null &
pid=$!
sleep 0.5
timeout 60 "$B/tailor" attach -q -o "$dir/t.tlr" --duration 1 $pid || { echo "tailor attach: exit $?"; bad=1; }
kill $pid
wait $pid 2>/dev/null
check attach
exit $bad
