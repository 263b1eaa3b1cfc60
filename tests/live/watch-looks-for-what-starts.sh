#!/bin/bash
# SPDX-License-Identifier: MIT
# Where the kernel tells `tailor watch --name` of no new process (a user's own namespace of users and processes, as in a container
# without rights), it looks for them each second, says so, and what starts later is in the store.
. tests/live/begin.bash
inside="unshare --user --map-root-user --pid --fork --mount-proc"
$inside true 2>/dev/null || skip "this machine gives a user no namespaces of his own (unshare --user)"
cat >"$dir/service.c" <<'C'
#include <unistd.h>
int main(void)
{
	volatile unsigned n = 0;

	for (;;)
		n++;
}
C
${CC:-cc} -O1 -o "$dir/tpolled" "$dir/service.c" || exit 1
cat >"$dir/inside.sh" <<'END'
B=$1 dir=$2 patience=$3
"$B/tailor" watch --name '^tpolled$' --epochs 1s --store "$dir/w.tlrs" 2>"$dir/said" &
watch=$!
begin=$SECONDS
until grep -q 'are looked for' "$dir/said" || [ $((SECONDS - begin)) -gt "$patience" ]; do sleep 0.1; done
"$dir/tpolled" &
service=$!
until "$B/tailor" db report "$dir/w.tlrs" --view processes 2>/dev/null | grep -q tpolled || [ $((SECONDS - begin)) -gt "$patience" ]; do
	sleep 0.5
done
kill $service $watch
wait $watch
END
as="setpriv --reuid 65534 --regid 65534 --clear-groups" # root is one user more
[ "$(id -u)" = 0 ] && $as test -x "$B/tailor" 2>/dev/null && chown -R 65534:65534 "$dir" || as=
$as $inside bash "$dir/inside.sh" "$B" "$dir" "$PATIENCE_S"
status=$?
[ $status = 0 ] || fail "expected tailor watch to end with 0, got $status: $(cat "$dir/said")"
grep -q 'are looked for each second, and the beginning of each is not recorded' "$dir/said" ||
	fail "expected a sentence that new processes are looked for, got: $(cat "$dir/said")"
"$B/tailor" db report "$dir/w.tlrs" --view processes >"$dir/out" 2>&1
grep -q 'tpolled' "$dir/out" || fail "expected tpolled in the store, got: $(cat "$dir/out")"
finish
