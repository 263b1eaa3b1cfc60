#!/bin/bash
# SPDX-License-Identifier: MIT
# The page's Compare is `tailor diff`: under random filters both have the same lines, changes, margins and verdicts, for two recordings of
# one program, with an operator that does a fifth more, for programs with different plans, and for executions that the host marked.
# PAIRS of the same work, and as many with the slower operator, are made of each two of a few recordings (3; LONG=1: 100).
. tests/page/begin.bash
need_page
engine() { # TRACE OPTION...
	local trace=$1
	shift
	"$B/tailor" run -q -e task-clock -o "$dir/$trace" -- "$B/engine" --query calibrate --seconds 1 "$@" >"$dir/out" 2>&1 ||
		{ cat "$dir/out"; exit 1; }
}
wanted=${PAIRS:-$([ -n "${LONG:-}" ] && echo 100 || echo 3)} plain=() slower=() same=() planted=()
while [ ${#same[@]} -lt $((2 * wanted)) ]; do
	next=plain-${#plain[@]}.tlr
	engine "$next"
	for before in "${plain[@]}"; do same+=("$dir/$before" "$dir/$next"); done
	plain+=("$next")
done
while [ ${#planted[@]} -lt $((2 * wanted)) ]; do
	next=slower-${#slower[@]}.tlr
	engine "$next" --slow 'work 8=20'
	for before in "${plain[@]}"; do planted+=("$dir/$before" "$dir/$next"); done
	slower+=("$next")
done
"$B/bench/synthetic" 20000 50 "$dir/synthetic.tlr" marks || exit 1
"$B/bench/synthetic" 20000 60 "$dir/changed.tlr" marks changes || exit 1
timeout 3000 node tests/page/compared.mjs "$B" "$dir" "$(combinations 20)" "${same[@]:0:2 * wanted}" "${planted[@]:0:2 * wanted}" \
	tests/golden/compare/q3.tlr tests/golden/compare/fig9.tlr "$dir/synthetic.tlr" "$dir/changed.tlr"
