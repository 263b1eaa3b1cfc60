#!/bin/bash
# SPDX-License-Identifier: MIT
# A stripped program with a JIT in it, whose list for debuggers no symbol leads to: its code has a name under `tailor run` and
# `tailor attach`, as it has where the program's own symbol table tells of the list, and where the agent cannot hook a list that it exports;
# output and exit status are its own.
. tests/live/begin.bash
trap 'kill -9 ${pid:-} 2>/dev/null; rm -rf "$dir"' EXIT
mkfifo "$dir/hold" # while it is open, the host stays

samples() { # leaves the number of samples in generated code in $n
	"$B/tailor" report --json "$dir/t.tlr" >"$dir/json" || { fail "report: exit $?"; return 1; }
	n=$(/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["jit"]["samples"])' "$dir/json")
}

check() { # NAME
	judge /usr/bin/python3 - "$1" "$dir/json" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[2]))
jit = r["jit"]
hot = sum(f["samples"] for f in r["functions"] if f["name"] == "hidden_hot" and f["generated"])
print(f"FIGURE {sys.argv[1]}: {jit['samples']} samples in generated code, {hot} in hidden_hot")
# One of thousands of calls comes before the list has an entry.
if hot < 0.99 * jit["samples"]:
    sys.exit(f"{sys.argv[1]}: expected 99 % of the {jit['samples']} samples in generated code to be in hidden_hot, got {hot}")
names = {f["name"] for f in r["functions"] if f["generated"]} - {"hidden_hot"}
if names - {n for n in names if n.startswith("anonymous code")}:
    sys.exit(f"{sys.argv[1]}: expected no other names, got {names}")
PYTHON
}

found_or_ended() { "$B/tailor" dump "$dir/t.tlr" 2>/dev/null | grep -q ' IMAGE load_bias=0 flags=1 ' || ! kill -0 $pid 2>/dev/null; }
begun() { grep -q begun "$dir/err"; }

run() { # HOST SECONDS: the host stays until the recorder has found the list: how soon it looks for one is its own affair
	"$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/$1" "$B/hosts/hidden_hot.o" "$2" <"$dir/hold" >"$dir/out" 2>"$dir/err" &
	pid=$!
	exec 3>"$dir/hold"
	wait_for found_or_ended
	exec 3>&-
	wait $pid
	local status=$?
	pid=
	[ "$status,$(cat "$dir/out")" = 0,1 ] || {
		fail "$1: expected exit 0 and '1', got exit $status and '$(cat "$dir/out")': $(cat "$dir/err")"
		return 1
	}
	samples
}

attach() { # SECONDS
	timeout 300 "$B/tailor" attach -q -o "$dir/t.tlr" --duration "$1" $pid || { fail "tailor attach: exit $?"; return 1; }
	samples
}

nm "$B/hosts/hidden_jit" 2>&1 | grep -q 'no symbols' || fail "expected a program without symbols, got: $(nm "$B/hosts/hidden_jit")"
for host in hidden_jit hidden_jit-unstripped hidden_jit-unpatched; do
	gather 500 run $host && check "run $host"
done
"$B/hosts/hidden_jit" "$B/hosts/hidden_hot.o" 1000000 <"$dir/hold" >/dev/null 2>"$dir/err" &
pid=$!
exec 3>"$dir/hold"
wait_for begun && gather 500 attach && check attach

# Of the whole machine, processes that are there and that begin meanwhile are found by their memory for code.
if [ "$(id -u)" = 0 ]; then
	"$B/tailor" attach -q --all -r 100 -o "$dir/all.tlr" &
	recorder=$!
	is_named() { "$B/tailor" dump "$dir/all.tlr" 2>/dev/null | grep -q " $1/$1 IMAGE load_bias=0 flags=1 "; }
	named() { is_named $1 || ! kill -0 $recorder 2>/dev/null; }
	wait_for named $pid
	"$B/hosts/hidden_jit-unstripped" "$B/hosts/hidden_hot.o" 1000000 <"$dir/hold" >/dev/null 2>&1 &
	later=$!
	wait_for named $later
	kill $later
	kill -INT $recorder
	wait $recorder || fail "attach --all: expected exit 0, got $?"
	is_named $pid && is_named $later || fail "expected attach --all to read the lists of processes $pid and $later"
fi
kill $pid
wait $pid 2>/dev/null
pid=
finish
