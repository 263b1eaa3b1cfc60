#!/bin/bash
# SPDX-License-Identifier: MIT
# A thousand threads at once, then a child that becomes another program: everybody is in the trace, in both scopes.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
cat >"$dir/host.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static void *work(void *all)
{
	volatile double x = 0;
	if (all) pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000000; i++) x += i;
	return NULL;
}
int main(int argc, char **argv)
{
	static pthread_t t[1000];
	int nr = 0;
	if (argc == 1) { for (int i = 0; i < 20; i++) work(NULL); return 0; }
	pthread_barrier_init(&barrier, NULL, 1000);
	for (; nr < 1000; nr++)
		if (pthread_create(&t[nr], NULL, work, t)) { puts("no 1000 threads here"); return 77; }
	while (nr--) pthread_join(t[nr], NULL);
	if (fork() == 0) execl(argv[0], argv[0], (char *)NULL);
	wait(NULL);
	return 4;
}
C
gcc -O1 -pthread -o "$dir/host" "$dir/host.c" || exit 1
for scope in cpu thread; do
	timeout 200 "$B/tailor" run -r 2000 --stack 512 --scope $scope -o "$dir/t.tlr" -- "$dir/host" threads \
		>"$dir/out" 2>"$dir/err"
	status=$?
	[ $status = 77 ] && { echo "skipped, because the limits here allow no 1000 threads"; exit 77; }
	"$B/tailor" dump "$dir/t.tlr" >"$dir/dump"
	threads=$(grep ' FORK ' "$dir/dump" | awk '{ print $2 }' | sort -u | wc -l)
	hellos=$(grep -c ' GUEST ' "$dir/dump")
	execs=$(grep -c ' COMM exec=1 ' "$dir/dump")
	samples=$(sed -n 's/.* END .*samples=\([0-9]*\).*/\1/p' "$dir/dump")
	[ $status = 4 ] || { echo "scope $scope: expected status 4, got $status: $(cat "$dir/err")"; bad=1; }
	[ "$threads" = 1001 ] || { echo "scope $scope: expected 1001 threads and processes to begin, got $threads"; bad=1; }
	[ "$execs" = 2 ] || { echo "scope $scope: expected 2 execs, got $execs"; bad=1; }
	[ "$hellos" -ge 2 ] || { echo "scope $scope: expected host and child to say hello, got $hellos"; bad=1; }
	[ "${samples:-0}" -ge 500 ] || { echo "scope $scope: expected 500 samples or more, got ${samples:-none}"; bad=1; }
	if [ "$(id -u)" = 0 ] && grep -q 'threads not counted' "$dir/err"; then
		echo "scope $scope: root has no limit on locked memory, and still: $(cat "$dir/err")"
		bad=1
	fi
	echo "FIGURE scope $scope: 1000 threads, $(sed -n 's/^tailor run: //p' "$dir/err" | sed "s| in $dir[^ ]*||")"
done
exit $bad
