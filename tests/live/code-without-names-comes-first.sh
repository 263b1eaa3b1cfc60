#!/bin/bash
# SPDX-License-Identifier: MIT
# Code that no JIT interface named is the first sentence of a report, within five lines, with the program that generated it and what
# would name it: in anonymous memory, in a file that may be written or has no name any more, with an agent in the host and without. The
# report and `--view code` have the same share in generated code.
. tests/live/begin.bash
host=$B/hosts/nameless_code
options=()
record() { # -- ARGUMENT... SECONDS: of the host
	local arguments=("${@: -1}" "${@:2:$#-2}")
	timeout 300 "$B/tailor" run -q "${options[@]}" -o "$dir/t.tlr" -- "$named" "${arguments[@]}" >"$dir/out" 2>&1 || {
		fail "tailor run -- $named ${arguments[*]}: $(tail -n 3 "$dir/out")"
		return 1
	}
	n=$("$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["jit"]["samples"])')
}
check() { # SENTENCE
	local first generated shown
	first=$("$B/tailor" report "$dir/t.tlr" | head -n 5 | tr -s ' \n' '  ')
	[[ $first =~ ^[0-9.]+\ %\ of\ all\ samples\ ran\ in\ code\ that\ "$1" ]] ||
		fail "expected \"... ran in code that $1\" first, got: $first"
	# (by weight, and by number)
	generated=$("$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c 'import json, sys
r = json.load(sys.stdin)
print(100 * r["jit"]["samples"] / r["samples"]["total"])')
	shown=$("$B/tailor" report --view code "$dir/t.tlr" | sed -n 's/^ *\([0-9.]*\) % *of all samples in generated code.*/\1/p')
	awk -v a="$generated" -v b="$shown" 'BEGIN { exit !(b != "" && a - b < 0.3 && b - a < 0.3) }' ||
		fail "expected $generated % of all samples in generated code in --view code, got: $shown"
}
WANTED=100
UNKNOWN="did not name. Enable its perf map or jitdump if it has one; an engine of your own calls jitreg_code_load()."
named=$host
gather $WANTED record -- && check "nameless_code generated and $UNKNOWN"
alone=$dir/alone # an agent cannot come into it
gcc -O1 -static -o "$alone" tests/hosts/nameless_code.c || skip "no static program can be built here"
named=$alone
gather $WANTED record -- && check "alone generated and $UNKNOWN"
# by the name of the program that generated it
cp "$host" "$dir/moar"
named=$dir/moar
gather $WANTED record -- && check "MoarVM (moar) generated and did not name. Set MVM_JIT_PERF_MAP=1."
# ... and not what was done already: the host's option, --no-adapt, another way of recording
with_option() {
	MVM_JIT_PERF_MAP=1 record "$@"
}
gather $WANTED with_option -- && check "MoarVM (moar) generated and did not name, although it was started with MVM_JIT_PERF_MAP. \`tailor"
# ... a recorder that is late for the whole of a short program knows it, too
late() { # -- SECONDS: the recorder is stopped while it runs
	cat >"$dir/late.sh" <<-END
		(sleep $((2 * $2)); kill -CONT \$PPID) &
		kill -STOP \$PPID
		exec "$dir/moar" 0.5
	END
	options=(--stack 0) # its rings have room for all of it
	named=/bin/sh with_option -- "$dir/late.sh"
	options=()
}
gather $WANTED late -- && check "MoarVM (moar) generated and did not name, although it was started with MVM_JIT_PERF_MAP. \`tailor"
without_adapters() {
	TAILOR_NO_ADAPT=1 record "$@"
}
gather $WANTED without_adapters -- && check "MoarVM (moar) generated and did not name. Record without --no-adapt."
attached() { # -- SECONDS
	"$named" 30 >"$dir/out" 2>&1 &
	local host=$!
	wait_for grep -qs moar "/proc/$host/comm"
	"$B/tailor" attach -q -d "$2" -o "$dir/t.tlr" $host 2>"$dir/out" || fail "tailor attach: $(cat "$dir/out")"
	kill $host
	wait $host
	n=$("$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["jit"]["samples"])')
}
gather $WANTED attached -- &&
	check "MoarVM (moar) generated and did not name. Record with \`tailor run -- COMMAND\`, or set MVM_JIT_PERF_MAP=1."
# in a file: without an agent its name says whose code it is
named=$alone
gather $WANTED record -- "$dir/sbcl.core" && check "SBCL (sbcl.core) generated and did not name. It has no JIT interface;"
gather $WANTED record -- "$dir/orcexec.1" deleted && check "ORC (orcexec.1 (deleted)) generated and did not name."
named=$host
gather $WANTED record -- "$dir/orcexec.2" deleted && check "nameless_code generated and $UNKNOWN"
finish
