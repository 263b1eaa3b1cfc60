#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder survives guests that mean ill: logs that are shrunk, forged and torn, strangers' descriptors, malformed messages; what
# other processes of the tree say is recorded all the same, and the trace has its END.  An agent of another version is refused in one
# sentence, and its host runs on.
. tests/live/begin.bash
rate=$(allowed_rate 2000)

# The hostile one has no agent in it, and is at work before one begins that has, until that one has ended.
cat >"$dir/pair" <<'END'
	mkfifo "$3/hold"
	LD_PRELOAD= "$1/hosts/hostile" "$2" <"$3/hold" >"$3/hostile" 2>&1 &
	exec 3>"$3/hold"
	until grep -q '^ready$' "$3/hostile" || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
	TAILOR_DEBUG=1 "$1/hosts/unloads" 100 0.2
	exec 3>&-
	wait
	cat "$3/hostile"
	rm "$3/hold"
END
for what in shrink head frames counters bytes messages; do
	for scope in cpu thread; do
		timeout 300 "$B/tailor" run --follow --scope $scope -r "$rate" -o "$dir/t.tlr" -- \
			bash "$dir/pair" "$B" $what "$dir" >"$dir/out" 2>"$dir/err"
		status=$?
		[ $status = 0 ] || fail "$what, scope $scope: run ended with $status: $(cat "$dir/err")"
		grep -q '^done' "$dir/out" || fail "$what, scope $scope: the hostile host was stopped: $(cat "$dir/out" "$dir/err")"
		[ $what = shrink ] && { grep -q 'shrunk 0 grown 0' "$dir/out" || fail "the log is not sealed: $(cat "$dir/out")"; }
		"$B/tailor" dump "$dir/t.tlr" >"$dir/dump" 2>"$dir/dump.err" || fail "$what, scope $scope: dump: $(cat "$dir/dump.err")"
		grep -q ' END ' "$dir/dump" || fail "$what, scope $scope: the trace has no END"
		grep -q 'can be cut' "$dir/out" && fail "memory for execution counts is not sealed"
		grep -E ' LOSS .* count=[0-9]{13,}' "$dir/dump" && fail "$what, scope $scope: losses that are not possible"
		n=$(grep -c ' LOAD .*kept_' "$dir/dump")
		[ "$n" = 1000 ] ||
			fail "$what, scope $scope: expected 1000 functions of the honest guest, got $n: $(cat "$dir/out" "$dir/err")"
		timeout 300 "$B/tailor" report "$dir/t.tlr" >/dev/null 2>"$dir/dump.err" || fail "$what: report: $(cat "$dir/dump.err")"
		echo "survived: $what, scope $scope"
	done
done

# the same agent, but for its version
mkdir -p "$dir/other/jitreg/protocol"
sed 's/#define LOG_VERSION .*/#define LOG_VERSION 99u/' jitreg/protocol/log.h >"$dir/other/jitreg/protocol/log.h"
gcc -shared -fPIC -O1 -std=gnu11 -DJITREG_AGENT -D_GNU_SOURCE -DTAILOR_VERSION='"99"' -fvisibility=hidden -ftls-model=initial-exec \
	-I"$dir/other" -I. -Wl,--version-script=agent/guest/exports.map -o "$dir/other/libtailor.so" \
	$(find agent/guest shim -name '*.c') -ldl -lpthread || exit 1
timeout 300 "$B/tailor" run -o "$dir/t.tlr" -- \
	env "LD_PRELOAD=$dir/other/libtailor.so" "$B/hosts/unloads" 100 0.1 >"$dir/out" 2>"$dir/err" ||
	fail "another version: exit $?: $(cat "$dir/err")"
n=$(grep -c 'its agent is not of version' "$dir/err")
[ "$n" = 1 ] || fail "another version: expected one sentence, got $n: $(cat "$dir/err")"
grep -q dropped "$dir/out" || fail "another version: the host did not run"
finish
