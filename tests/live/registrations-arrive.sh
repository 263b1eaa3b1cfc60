#!/bin/bash
# SPDX-License-Identifier: MIT
# A registration whose call returned 0 is in the trace: from a library's constructor, from threads that race for the first look-up, from
# many threads at once, with forks, a slow recorder, and a recording that ends before its host.
. tests/live/begin.bash
components() { timeout 300 "$B/tailor" dump "$1" | grep -c ' COMPONENT '; }
closed() { [ -s "$dir/t.tlr" ] && timeout 300 "$B/tailor" dump "$dir/t.tlr" 2>/dev/null | grep -q ' END '; }
losses() { timeout 300 "$B/tailor" dump "$1" | grep ' LOSS '; }
export CONSTRUCT=1
for how in run preload; do
	rm -f "$dir/t.tlr"
	case $how in
	run) said=$(timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/registers" constructor) ;;
	preload)
		said=$(LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$dir/t.tlr timeout 300 "$B/hosts/registers" constructor)
		wait_for closed
		;;
	esac
	[ "$said" = 4 ] || fail "$how: expected that 4 calls return 0, got $said"
	[ "$(components "$dir/t.tlr")" = 4 ] || fail "$how: expected 4 components, got $(components "$dir/t.tlr")"
done
said=$(TAILOR_OFF=1 LD_PRELOAD=$B/libtailor.so timeout 300 "$B/hosts/registers" constructor)
[ "$said" = 0 ] || fail "switched off: expected that no call returns 0, got $said"
unset CONSTRUCT
for ((i = 0; i < 10; i++)); do
	said=$(timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/registers" race 8)
	n=$(components "$dir/t.tlr")
	[ "$said" = 8 ] && [ "$n" = 8 ] || fail "8 threads at once: expected 8 calls that return 0 and 8 components, got $said and $n"
done
said=$(timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/registers" many 4 100000)
n=$(components "$dir/t.tlr")
[ "$said" = "$n" ] || fail "4 threads: $said calls returned 0, and $n of their records are there: $(losses "$dir/t.tlr")"
losses "$dir/t.tlr" | grep -q 'log gap' && fail "no writer was killed: $(losses "$dir/t.tlr")"
echo "FIGURE 4 threads: $said of 400000 records accepted, $n in the trace"
# each record of 16 ways to record, one by one; tests/long has more of them
judge /usr/bin/python3 tests/live/ledger.py "$B" "$dir" 17 5000
# numbers of a program and its library, with an agent and without
for agent in "$B/libtailor.so" ""; do
	said=$(LD_PRELOAD=$agent TAILOR_OUTPUT=$dir/ids.tlr timeout 60 "$B/hosts/registers" ids)
	[ "$said" = disjoint ] || fail "numbers of a program and its library (agent: '$agent'): $said"
done
# versions
said=$(timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/speaks")
[ "$said" = "scope 0, component 0, mark yes, old mark 0, its end 0" ] || fail "one thing of every kind: got $said"
timeout 60 "$B/tailor" dump "$dir/t.tlr" >"$dir/dump"
of_header() { sed -n "s/^#define JITREG_VERSION_$1 \([0-9]*\)u$/\1/p" jitreg/jitreg.h; }
version=$(($(of_header MAJOR) << 16 | $(of_header MINOR)))
grep -q " HELLO version=$version " "$dir/dump" || fail "expected the header's version, $version, in the trace: $(grep HELLO "$dir/dump")"
[ "$(grep -c ' SCOPE ' "$dir/dump")" = 2 ] || fail "expected the scope's begin and end: $(grep SCOPE "$dir/dump")"
losses "$dir/t.tlr" | grep -q 'log ' && fail "nothing is lost between them: $(losses "$dir/t.tlr")"
finish
