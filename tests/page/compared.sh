#!/bin/bash
# SPDX-License-Identifier: MIT
# The page's Compare is `tailor diff`: under random filters both have the same lines, changes, margins and verdicts, for two recordings of
# one program, with an operator that does a fifth more, for programs with different plans, and for executions that the host marked.
. tests/page/begin.bash
need_page
engine() { # TRACE OPTION...
	local trace=$1
	shift
	"$B/tailor" run -q -e task-clock -o "$dir/$trace" -- "$B/engine" --query calibrate --seconds 1 "$@" >"$dir/out" 2>&1 ||
		{ cat "$dir/out"; exit 1; }
}
engine a.tlr && engine b.tlr && engine planted.tlr --slow 'work 8=20' || exit 1
"$B/bench/synthetic" 20000 50 "$dir/synthetic.tlr" marks || exit 1
"$B/bench/synthetic" 20000 60 "$dir/changed.tlr" marks changes || exit 1
timeout 3000 node tests/page/compared.mjs "$B" "$dir" "${COMBINATIONS:-15}" "$dir/a.tlr" "$dir/b.tlr" "$dir/a.tlr" "$dir/planted.tlr" \
	tests/golden/compare/q3.tlr tests/golden/compare/fig9.tlr "$dir/synthetic.tlr" "$dir/changed.tlr"
