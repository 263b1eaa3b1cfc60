#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor diff` and `tailor stat` on fixed traces: what they print, and how they exit.  ACCEPT=1 takes the new text.
#
# q3.tlr, fig9.tlr: tailor run --period 3000001 -- engine --query NAME --scale 0.02 --repeat 60, without image files.
# tests/golden/v1.tlr is another run of q3.
set -u
B=$1
dir=tests/golden/compare
out=$B/golden-compare.txt
bad=0
say() { # STATUS COMMAND...: the command, what it prints, and its exit status
	expected=$1
	shift
	echo "\$ tailor $*"
	LC_ALL=C.UTF-8 "$B/tailor" "$@" 2>&1
	status=$?
	echo "exit $status"
	echo
	[ $status = "$expected" ] || { echo "tailor $*: expected exit $expected, got $status" >&2; bad=1; }
}
exec 3>&1
{
	say 0 diff tests/golden/v1.tlr tests/golden/v1.tlr --fail-above 5%
	say 0 diff tests/golden/v1.tlr $dir/q3.tlr
	say 0 diff tests/golden/v1.tlr $dir/q3.tlr --all --top 4
	say 3 diff tests/golden/v1.tlr $dir/fig9.tlr --fail-above 5%
	say 0 diff tests/golden/v1.tlr,$dir/q3.tlr $dir/fig9.tlr --level pipeline
	say 0 diff tests/golden/v1.tlr $dir/fig9.tlr --level function --csv
	say 0 diff tests/golden/v1.tlr $dir/fig9.tlr --expr 'b - 2*a' --top 4
	say 2 diff tests/golden/v1.tlr $dir/fig9.tlr --expr 'b - 2*'
	say 0 diff tests/golden/v1.tlr $dir/fig9.tlr --between-runs 100%
	say 2 diff tests/golden/v1.tlr $dir/fig9.tlr --between-runs much
	say 2 diff tests/golden/v1.tlr
	say 0 diff tests/golden/v1.tlr $dir/q3.tlr --json
	say 0 stat tests/golden/v1.tlr $dir/q3.tlr $dir/fig9.tlr
	say 2 stat tests/golden/v1.tlr
} >"$out" 2>&3
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out" $dir/expected.txt
elif ! diff -u $dir/expected.txt "$out"; then
	echo "expected what $dir/expected.txt has (-), got the other (+)"
	bad=1
fi
# A damaged side is compared as far as it goes, which is no success.
cut=$B/golden-compare.tlr
head -c "$(($(stat -c %s tests/golden/v1.tlr) * 3 / 4))" tests/golden/v1.tlr >"$cut"
for command in "diff tests/golden/v1.tlr" "diff --fail-above 0.1% tests/golden/v1.tlr" "stat tests/golden/v1.tlr"; do
	got=$("$B/tailor" $command "$cut" 2>"$out.err")
	status=$?
	[ $status = 1 ] && [ -n "$got" ] && [ "$(grep -c 'what could be read is shown' "$out.err")" = 1 ] ||
		{ echo "tailor $command CUT: expected exit 1, a table and a sentence, got exit $status: $got $(cat "$out.err")"; bad=1; }
done
if LC_ALL=C.UTF-8 grep -vE '^(\$| *"|"|tailor|Try|share_a)|,"' "$out" | grep -nE '^.{81,}'; then
	echo "expected at most 80 columns, got the lines above"
	bad=1
fi
exit $bad
