#!/bin/bash
# SPDX-License-Identifier: MIT
# What jitreg/GUIDE.md says about LLJIT: its code is known by the GDB listener (tests/live/guide-examples.sh has that), by the perf
# listener, and on JITLink by the plugin that the guide shows, whose lines are compiled from there; with none of them `tailor check`
# finds unregistered code.
set -u
. tests/evidence.bash
B=$(cd "$1" && pwd) || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
llvm=${LLVM_CONFIG:-llvm-config}
command -v g++ >/dev/null && command -v "$llvm" >/dev/null || skip "g++ or llvm-dev is missing"
source=tests/examples/llvm_orc.cpp
headers="Orc/ObjectLinkingLayer.h Orc/DebugObjectManagerPlugin.h Orc/EPCDebugObjectRegistrar.h JITLink/EHFrameSupport.h"
WANTED=1000

sed 's/createGDBRegistrationListener/createPerfJITEventListener/' $source >"$dir/perf.cpp"
grep -v 'createGDBRegistrationListener' $source >"$dir/none.cpp"
# the guide's block about JITLink, in place of the example's
awk '/^  ```cpp$/ { block = ""; inside = 1; next }
	/^  ```$/ { if (inside && block ~ /DebugObjectManagerPlugin/) printf "%s", block; inside = 0 }
	inside { sub(/^  /, ""); block = block $0 "\n" }' jitreg/GUIDE.md >"$dir/block"
{
	for h in $headers; do echo "#include <llvm/ExecutionEngine/$h>"; done
	awk -v block="$dir/block" '/setObjectLinkingLayerCreator/ { while ((getline line <block) > 0) print line; skip = 1 }
		!skip { print }
		skip && /^\t}\)/ { skip = 0 }' $source
} >"$dir/jitlink.cpp"
grep -q DebugObjectManagerPlugin "$dir/block" || fail "no block about JITLink in jitreg/GUIDE.md"

for how in perf jitlink none; do
	cmp -s $source "$dir/$how.cpp" && fail "$how: nothing is changed"
	g++ -std=c++17 -O1 -g -Wall -Wextra -ffixed-r13 -Ijitreg -Itests/examples -isystem "$("$llvm" --includedir)" "$dir/$how.cpp" \
		$("$llvm" --ldflags --libs) -ldl -o "$dir/$how" || fail "$how does not compile"
done
[ $bad = 0 ] || finish

record() { # HOW SECONDS: $n samples in the run phase, $on_operator per cent of them
	JITDUMPDIR=$dir timeout 300 "$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$dir/$1" $(($2 * 100)) \
		>"$dir/out" 2>"$dir/err" || { fail "tailor run -- $1: exit $?: $(cat "$dir/err")"; return 1; }
	read -r n on_operator < <("$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c 'import json, sys
run = json.load(sys.stdin)["run"]
print(run["samples"], round(100 * run["on_operator"]))')
}
for how in perf jitlink none; do
	gather $WANTED record $how || continue
	"$B/tailor" check "$dir/t.tlr" >"$dir/check" 2>&1
	status=$?
	echo "$how: $n samples, $on_operator % on operators, tailor check: exit $status"
	if [ $how = none ]; then
		[ $status = 3 ] && grep -q code-unregistered "$dir/check" ||
			fail "no listener: expected exit 3 and code-unregistered, got $status: $(cat "$dir/check")"
	else
		[ $status = 0 ] || fail "$how: tailor check: expected exit 0, got $status: $(cat "$dir/check")"
		[ "$on_operator" -ge 95 ] || fail "$how: expected 95 % or more on operators, got $on_operator %"
	fi
done
finish
