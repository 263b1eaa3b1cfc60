#!/bin/bash
# SPDX-License-Identifier: MIT
# The engine is right: every query, however it is tagged, generated and optimized, gives what the naive evaluation gives.  It generates code
# for the processor that it runs on, with the vector units that this has; so ways with vectors are tried for one that has SSE2 only, too.
# Long: every query in every way, for two processors.
. tests/live/begin.bash

cat >"$dir/oldest.c" <<'END'
#include <string.h>
char *LLVMGetHostCPUName(void) { return strdup("x86-64"); }
char *LLVMGetHostCPUFeatures(void) { return strdup(""); }
END
gcc -shared -fPIC -o "$dir/oldest.so" "$dir/oldest.c" || exit 1

nr=0
right() { # PRELOADED ENGINE'S-ARGUMENT...
	local preloaded=$1 out status
	shift
	out=$(LD_PRELOAD=$preloaded timeout 300 "$B/engine" "$@" --check 2>&1)
	status=$?
	if [ $status != 0 ] || ! grep -q 'naive evaluation agrees' <<<"$out"; then
		fail "${preloaded:+LD_PRELOAD=$preloaded }engine $* --check: expected exit 0 and 'the naive evaluation agrees'," \
			"got exit $status and: $out"
	fi
	nr=$((nr + 1))
}

all=inline,fold,cse,eliminate,fuse,vector,unroll
for query in fig9 fig10a fig10b q1 q3 q3-groupjoin q6 q16 q18 pagerank calibrate calibrate-inline; do
	for how in "" "--outline" "--outline --pack" "--tag memory" "--tag none" "--threads 1" "--threads 7" \
		"--optimize none" "--optimize inline" "--optimize vector --threads 3" "--optimize unroll" \
		"--optimize cse,fuse,unroll --outline" "--optimize $all" "--optimize $all,llvm"; do
		# shellcheck disable=SC2086
		right '' --query $query --scale 0.02 --repeat 2 $how
	done
	right "$dir/oldest.so" --query $query --scale 0.02 --repeat 2 --optimize vector
	right "$dir/oldest.so" --query $query --scale 0.02 --repeat 2 --optimize $all,llvm
done
right '' --query q6 --scale 1
lineitems=$("$B/engine" --query q6 --scale 1 --explain | sed -n 's/.*scan lineitem  (operator 1, \([0-9]*\) rows expected).*/\1/p')
[ "${lineitems:-0}" -ge 6000000 ] || fail "engine --query q6 --scale 1 --explain: expected six million lineitems, got '$lineitems'"
echo "FIGURE $nr ways of running twelve queries agree with the naive evaluation; $lineitems lineitems at scale 1"
finish
