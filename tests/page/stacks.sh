#!/bin/bash
# SPDX-License-Identifier: MIT
# Flame graphs have the calls of `tailor export --format folded`, in both directions, also of a range of time; callers and callees of a
# function are those of `tailor report --view callees`, and waits those of its tree.
# Rights: context switches are root's
. tests/page/begin.bash
. tests/evidence.bash
need_page
# Threads that wait, where this user may see them do so (perf_event_paranoid 1, or root).
waits=()
if [ "$(plain_event)" = task-clock ]; then
	"$B/tailor" run -q -e task-clock,context-switches -o "$dir/waits.tlr" -- \
		"$B/engine" --query q3 --scale 0.01 --repeat 10 --threads 3 >"$dir/out" 2>&1 ||
		{ cat "$dir/out"; exit 1; }
	waits=("$dir/waits.tlr")
else
	echo "FIGURE waits were not compared: this user may not sample context switches"
fi
timeout 3000 node tests/page/stacks.mjs "$B" "$dir" tests/golden/v2.tlr tests/golden/compare/q3.tlr tests/golden/views/queries.tlr \
	"${waits[@]}"
