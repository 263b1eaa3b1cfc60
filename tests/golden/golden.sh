#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces of every format version, as they were written then, and what reports print of them.  ACCEPT=1 takes the new text:
# read the difference before you commit it.
#
# v1.tlr: tailor run --period 3000001 -- engine --query q3 --scale 0.02 --repeat 60, less image files of more than 40 KB.
# v2.tlr: the same, on two threads.
set -u
B=$1
bad=0
for trace in tests/golden/*.tlr; do
	base=${trace%.tlr}
	{
		COLUMNS=80 "$B/tailor" report "$trace"
		echo
		"$B/tailor" dump "$trace" | awk '{ n[$3]++ } END { for (k in n) print k, n[k] }' | sort
	} >"$B/golden.out" 2>&1
	if [ "${ACCEPT:-}" = 1 ]; then
		cp "$B/golden.out" "$base.expected"
	elif ! diff -u "$base.expected" "$B/golden.out"; then
		echo "$B/tailor report $trace: expected what $base.expected has (-), got the other (+)"
		bad=1
	fi
	wide=$(head -n 1000 "$B/golden.out" | LC_ALL=C.UTF-8 grep -E "^.{81,}")
	[ -z "$wide" ] || { echo "$B/tailor report $trace: more than 80 columns: $wide"; bad=1; }
done
exit $bad
