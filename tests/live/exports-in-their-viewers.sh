#!/bin/bash
# SPDX-License-Identifier: MIT
# Firefox's, Perfetto's, speedscope's and pprof's own readers open what `tailor export` writes, of the golden traces and of two threads
# of a query just recorded, and count what its CSV does: samples by thread and by function, marks and how long they took.  They show
# marks that begin when the last sample is long past.
# Long: viewers are fetched from npm.
. tests/live/begin.bash
tests/consumers/fetch.sh "$B" || exit
record() { # SECONDS
	timeout 300 "$B/tailor" run -q -e "$(plain_event)" -o "$dir/q3.tlr" -- "$B/engine" --query q3 --threads 2 --scale 0.05 \
		--repeat $((6 * $1)) >/dev/null || { fail "tailor run: exit $?"; return 1; }
	# of the thread that has fewer
	n=$("$B/tailor" export --format csv "$dir/q3.tlr" | /usr/bin/python3 -c '
import collections, csv, sys
print(sorted([0, 0, *collections.Counter(r["tid"] for r in csv.DictReader(sys.stdin)).values()])[-2])')
}
gather 50 record || finish
# of a program whose last mark begins long behind its last sample
cat >"$dir/sleeps.c" <<'END'
#include "jitreg.h"
#include <time.h>

static void work(double s)
{
	for (clock_t end = clock() + (clock_t)(s * CLOCKS_PER_SEC); clock() < end;)
		;
}
static void sleeps(const char *name)
{
	const struct timespec t = { 0, 50000000 };
	uint64_t mark = jitreg_mark_begin(JITREG_COVERS_THREAD, name, jitreg_at(0, 0), 1, 0, NULL);

	nanosleep(&t, NULL);
	jitreg_mark_end(mark, 0);
}
int main(void)
{
	jitreg_level(1, "operator", 0, JITREG_LEVEL_PLAN);
	work(0.5);
	sleeps("a pause");
	sleeps("a pause");
	return 0;
}
END
gcc -O1 -Ijitreg -o "$dir/sleeps" "$dir/sleeps.c" -ldl || { fail "sleeps does not compile"; finish; }
timeout 300 "$B/tailor" run -q -e "$(plain_event)" -o "$dir/sleeps.tlr" -- "$dir/sleeps" >/dev/null || fail "tailor run -- sleeps: exit $?"
timeout 1500 /usr/bin/python3 tests/consumers/consumers.py "$B" tests/golden/v1.tlr tests/golden/v2.tlr "$dir/q3.tlr" \
	"$dir/q3.tlr:operator" "$dir/sleeps.tlr" || bad=1
finish
