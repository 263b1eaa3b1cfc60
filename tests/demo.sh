#!/bin/bash
# SPDX-License-Identifier: MIT
# The main job, once: a compiled query, sampled through the preloaded agent, shown operator by operator.
# tests/demo.sh BUILD      Environment: SCALE (default 1), QUERY (fig9), THREADS (processors), RATE (10000)
set -eu
B=$1
trace=$B/fig9.tlr
seconds=4
while :; do
	rm -f "$trace"
	"$B/tailor" run -o "$trace" -r "${RATE:-10000}" -- \
		"$B/engine" --query "${QUERY:-fig9}" --scale "${SCALE:-1}" --threads "${THREADS:-$(nproc)}" --seconds $seconds
	samples=$("$B/tailor" report --json "$trace" | sed -n 's/.*"total": *\([0-9]*\).*/\1/p' | head -n 1)
	[ "${samples:-0}" -lt 30000 ] && [ $seconds -lt 60 ] || break
	seconds=$((seconds * 3))
	echo "only ${samples:-0} samples; once more for $seconds s" >&2
done
echo
"$B/tailor" report "$trace"
echo
echo "The trace is $trace; look again with: $B/tailor report $trace"
if "$B/tailor" html -o "$B/fig9.html" "$trace"; then
	echo "The same as an interactive page: $B/fig9.html"
fi
