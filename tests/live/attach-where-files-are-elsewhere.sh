#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor attach` names functions of programs whose files are at no path of ours: in a root directory inside of a mount namespace of its
# own, and deleted, in a process whose first thread has ended.
. tests/live/begin.bash
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$dir"' EXIT
cat >"$dir/spin.c" <<'C'
#include <pthread.h>
static volatile unsigned long x;
__attribute__((noinline)) void spin_here(void)
{
	for (int i = 0; i < 1000000; i++) x += i;
}
static void *spin(void *p)
{
	for (;;) spin_here();
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t;
	if (argc > 1) spin(argv);
	pthread_create(&t, 0, spin, 0);
	pthread_exit(0);
}
C
gcc -static -O1 -pthread -o "$dir/spin" "$dir/spin.c" || exit 1
attach() { # SECONDS; the number of samples is in $n
	timeout 300 "$B/tailor" attach -q -e "$(plain_event)" -o "$dir/t.tlr" --duration "$1" $pid 2>"$dir/err" || {
		fail "tailor attach: exit $?: $(cat "$dir/err")"
		return 1
	}
	n=$("$B/tailor" report --samples "$dir/t.tlr" | tail -n +2 | wc -l)
}
named() { # WHERE: nine of ten samples of user code and more are in the one function that there is
	gather 100 attach || return
	"$B/tailor" report --samples "$dir/t.tlr" | /usr/bin/python3 -c '
import csv, sys
rows = [r for r in csv.DictReader(sys.stdin, delimiter="\t", quoting=csv.QUOTE_NONE) if r["mode"] == "user"]
hot = sum(r["function"] == "spin_here" for r in rows)
print(f"FIGURE {sys.argv[1]}: {hot} of {len(rows)} samples of user code are named")
sys.exit(10 * hot < 9 * len(rows))' "$1" || fail "$1: functions have no names"
}
runs() { [ "$(cat "/proc/$pid/comm")" = "$1" ] && [ "$(awk '{ print $14 }' "/proc/$pid/stat")" -ge 5 ]; } # NAME
end() { kill -9 $pid; pid=; }

cp "$dir/spin" "$dir/spin_deleted"
"$dir/spin_deleted" &
pid=$!
wait_for runs spin_deleted
rm "$dir/spin_deleted"
named "deleted, and its first thread has ended"
end
if unshare -m true 2>/dev/null; then
	mkdir "$dir/root"
	unshare -m bash -c 'mount -t tmpfs none "$1" && cp "$2" "$1/spin_in_root" && exec chroot "$1" /spin_in_root alone' - \
		"$dir/root" "$dir/spin" &
	pid=$!
	wait_for runs spin_in_root
	named "in a root directory inside of another mount namespace"
	end
fi
finish
