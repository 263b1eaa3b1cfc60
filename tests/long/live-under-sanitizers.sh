#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder under address, undefined-behaviour and thread sanitizers, beside hosts that live in every way, hostile guests and hosts
# whose recorder fails, attached to them and given bad input: the live tests pass as they do without, and no sanitizer has anything to
# say.  (The guest is never sanitized.)
# LIVE="..." for other tests.
set -u
B=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
mkdir "$dir/said"
# a recorder beside a preloaded host has no stderr: what a sanitizer says goes to files
export ASAN_OPTIONS=log_path=$dir/said/address UBSAN_OPTIONS=print_stacktrace=1:log_path=$dir/said/undefined
export TSAN_OPTIONS=log_path=$dir/said/thread LSAN_OPTIONS=max_leaks=5
live=${LIVE:-matrix-of-odd-hosts hostile-guests dormant-until-asked recorder-fails-host-goes-on record-beside-a-host stale-sockets
	bad-input-run attach-to-a-running-process inject-refuses-in-a-sentence inject-into-idle-hosts inject-into-running-hosts
	inject-recorder-killed}

# The sanitizer works, and is heard: what this test would see.
cat >"$dir/leak.c" <<'C'
#include <stdlib.h>
int main(void) { volatile char *p = malloc(8); p[8] = 1; return 0; }
C
gcc -fsanitize=address -o "$dir/leak" "$dir/leak.c" && "$dir/leak" >/dev/null 2>&1
[ -n "$(ls "$dir/said")" ] || { echo "skipped, because the address sanitizer does not work here"; exit 77; }
rm -f "$dir"/said/*

for san in address,undefined thread; do
	b=$B/san-${san%%,*}
	make -s -j"$(nproc)" SAN=$san B="$b" all >"$dir/log" 2>&1 || { echo "make SAN=$san:"; tail -n 20 "$dir/log"; exit 1; }
	for test in $live; do
		[ -x "tests/live/$test.sh" ] || continue
		begin=$SECONDS
		SAN=$san timeout 900 tests/live/"$test.sh" "$b" >"$dir/log" 2>&1
		status=$?
		if [ $status != 0 ] && [ $status != 77 ]; then
			echo "$san, $test: exit $status:"
			tail -n 40 "$dir/log"
			bad=1
		fi
		if [ -n "$(ls "$dir/said")" ]; then
			echo "$san, $test: a sanitizer says:"
			head -n 40 "$dir"/said/* | head -n 120
			rm -f "$dir"/said/*
			bad=1
		fi
		echo "FIGURE $san, $test: $([ $status = 77 ] && echo skipped || echo "$((SECONDS - begin)) s")"
	done
done
exit $bad
