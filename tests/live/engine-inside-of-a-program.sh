#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with a SQLite of its own inside (Node, browsers, many packages of pip) is told that its statements are not read, and one with
# hardly any time in it is not.
. tests/live/begin.bash
cat >"$dir/host.c" <<'END'
#include <stdlib.h>
#include <time.h>
volatile long x;
__attribute__((noinline)) void sqlite3PlantedStep(long n) { for (long i = 0; i < n; i++) x += i; }
__attribute__((noinline)) void own_work(long n) { for (long i = 0; i < n; i++) x += i; }
int main(int argc, char **argv)
{
	clock_t end = clock() + (1 + atol(argv[1])) * CLOCKS_PER_SEC / 2;
	long percent = atol(argv[2]);

	while (clock() < end) {
		sqlite3PlantedStep(percent * 1000);
		own_work((100 - percent) * 1000);
	}
	return argc < 0;
}
END
gcc -O1 -o "$dir/host" "$dir/host.c" || exit 1
record() {
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$dir/host" "$1" "$percent" || { fail "tailor run: exit $?"; return 1; }
	n=$("$B/tailor" report --samples "$dir/t.tlr" | awk -F '\t' '$9 ~ /own_work|sqlite3/ { n++ } END { print n + 0 }')
}
sentence="a SQLite inside of the program, whose statements and operators are not known here. Statements are read of a libsqlite3"
for percent in 60 4; do
	gather 300 record || finish
	COLUMNS=1000 "$B/tailor" report "$dir/t.tlr" >"$dir/out"
	if grep -qF "$sentence" "$dir/out"; then said=60; else said=4; fi
	[ $said = $percent ] || fail "$percent % of the time in SQLite: sentence expected with 60 % only, got: $(head -5 "$dir/out")"
done
finish
