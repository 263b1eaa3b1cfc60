#!/bin/bash
# SPDX-License-Identifier: MIT
# Options that were renamed: the old name does the same as the new one, and help does not list it.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
trace=tests/golden/v1.tlr
same() { # COMMAND OLD NEW ARGUMENT...
	command=$1 old=$2 new=$3
	shift 3
	"$B/tailor" "$command" "$old" "$@" >"$dir/old" 2>&1 || { echo "tailor $command $old: exit $?: $(cat "$dir/old")"; bad=1; }
	cp "$dir/out" "$dir/out.old" 2>/dev/null
	"$B/tailor" "$command" "$new" "$@" >"$dir/new" 2>&1 || { echo "tailor $command $new: exit $?: $(cat "$dir/new")"; bad=1; }
	cmp -s "$dir/old" "$dir/new" || { echo "tailor $command $old: expected the output of $new"; bad=1; }
	[ ! -e "$dir/out" ] || cmp -s "$dir/out" "$dir/out.old" || { echo "tailor $command $old: expected the file of $new"; bad=1; }
	"$B/tailor" help "$command" | grep -q -e "^ .*$new" || { echo "tailor help $command: expected $new"; bad=1; }
	! "$B/tailor" help "$command" | grep -e " $old" || { echo "tailor help $command: $old is listed (above)"; bad=1; }
	rm -f "$dir/out" "$dir/out.old"
}
same report --witness --compare-stack --samples $trace
same scrub --names --drop-names -o "$dir/out" $trace
same scrub --code --drop-code -o "$dir/out" $trace
# (overhead measures: its old name is known if what is wrong is something else)
"$B/tailor" overhead --keep-output 2>&1 | grep -q 'no command given' ||
	{ echo "tailor overhead --keep-output: expected it to be known"; bad=1; }
[ $bad = 0 ] && echo "old names do the same"
exit $bad
