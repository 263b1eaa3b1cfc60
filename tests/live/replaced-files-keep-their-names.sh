#!/bin/bash
# SPDX-License-Identifier: MIT
# A program whose file is replaced while it runs, as an upgrade does, has the names of the file that it runs: by run when that happens
# before its first sample, and by attach and watch afterwards, with a build id and without. It is one process in a store before and after.
# So have libraries that replace one another, while another process maps the new one. Of a file that is overwritten in place, a sentence
# says so.
. tests/live/begin.bash
pids=()
end() { [ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2>/dev/null; wait 2>/dev/null; pids=(); }
trap 'end; rm -rf "$dir"' EXIT
cat >"$dir/work.c" <<'C'
__attribute__((noinline)) unsigned long NAME(unsigned long x) { for (int i = 0; i < 100000; i++) x = x * FACTOR + (x >> 7); return x; }
unsigned long call(unsigned long x) { return NAME(x) + 1; }
C
cat >"$dir/host.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
unsigned long call(unsigned long x);
static volatile sig_atomic_t now;
static void on_signal(int signal) { (void)signal; now = 1; }
static void replace(const char *how, const char *file, const char *by)
{
	struct stat st;
	int from = open(by, O_RDONLY), to;

	if (!strcmp(how, "rename") && rename(by, file)) abort();
	if (!strcmp(how, "remove") && unlink(file)) abort();
	if (!strcmp(how, "overwrite")) {
		if ((to = open(file, O_WRONLY)) < 0 || fstat(from, &st) || sendfile(to, from, 0, (size_t)st.st_size) != st.st_size) abort();
		close(to);
	}
	close(creat("done", 0600));
}
/* host SECONDS LIBRARY|- HOW FILE NEW: replaces FILE at once, or with SECONDS 0 at SIGUSR1, and works for ever */
int main(int argc, char **argv)
{
	unsigned long (*work)(unsigned long) = call, x = 1;
	double seconds = atof(argv[1]);

	if (*argv[2] != '-' && !(work = (unsigned long (*)(unsigned long))dlsym(dlopen(argv[2], RTLD_NOW), "call"))) return 1;
	signal(SIGUSR1, on_signal);
	if (seconds > 0) replace(argv[3], argv[4], argv[5]);
	while (seconds <= 0 || clock() < seconds * CLOCKS_PER_SEC) {
		x = work(x);
		if (now) replace(argv[3], argv[4], argv[5]);
		now = 0;
	}
	return x == 7;
}
C
cd "$dir" || exit 1
for id in sha1 none; do
	for name in old new; do
		define=(-DNAME=${name}_work "-DFACTOR=$([ $name = old ] && echo 1103515245ul || echo 1103515247ul)")
		gcc -g -O1 -Wl,--build-id=$id "${define[@]}" -o $name.$id host.c work.c -ldl &&
			gcc -g -O1 -shared -fPIC -Wl,--build-id=$id "${define[@]}" -o $name.$id.so work.c || exit 1
	done
done
fresh() { # ID: service and new, lib.so and new.so
	rm -f done service new lib.so new.so
	cp old.$1 service && cp new.$1 new && cp old.$1.so lib.so && cp new.$1.so new.so
}
works() { for p in "${pids[@]}"; do [ "$(awk '{ print $14 }' "/proc/$p/stat")" -ge 10 ] || return 1; done; }
# named WHERE PID FUNCTION...: nine of ten samples of user code (of a process, unless PID is -) are in these functions
named() {
	local where=$1 pid=$2
	shift 2
	"$B/tailor" report --samples t.tlr | awk -F '\t' -v pid="$pid" '$4 == "user" && (pid == "-" || $2 == pid)' >samples
	/usr/bin/python3 - "$where" "$@" <<'PYTHON' || fail "$where: expected nine of ten samples in $*"
import collections, sys

rows = [line.rstrip("\n").split("\t") for line in open("samples")]
of = collections.Counter(next((f for f in row if f.endswith("_work")), "other") for row in rows)
print(f"{sys.argv[1]}: {dict(of)}")
sys.exit(len(rows) < 20 or any(of[f] < 0.9 * len(rows) / len(sys.argv[2:]) for f in sys.argv[2:]))
PYTHON
}
run() { # SECONDS, and ID and HOW in $id, $how
	fresh $id
	timeout 300 "$B/tailor" run -q -e "$(plain_event)" -o t.tlr -- ./service $(($1 * 2)) - $how service new >out 2>&1 ||
		{ fail "tailor run: $(tail -n 3 out)"; return 1; }
	n=$("$B/tailor" report --samples t.tlr | awk -F '\t' '$4 == "user"' | wc -l)
}
attach() { # SECONDS
	timeout 300 "$B/tailor" attach -q -e "$(plain_event)" -d "$1" -o t.tlr "$(IFS=,; echo "${pids[*]}")" >out 2>&1 ||
		{ fail "tailor attach: $(tail -n 3 out)"; return 1; }
	n=$("$B/tailor" report --samples t.tlr | awk -F '\t' '$4 == "user"' | wc -l)
}
start() { # HOST ARGUMENT...
	"$@" & pids+=($!)
	wait_for works
}
replaced() { # the one process has replaced the file
	kill -USR1 ${pids[0]}
	wait_for [ -e done ]
}

for id in sha1 none; do
	for how in rename remove; do
		gather 100 run && named "run, $id, $how" - old_work
		fresh $id
		start ./service 0 - $how service new && replaced && gather 100 attach && {
			named "attach, $id, $how" ${pids[0]} old_work
			"$B/tailor" report --view processes t.tlr | grep -q '(deleted)' &&
				fail "attach, $id, $how: the executable is marked"
		}
		end
	done
	[ "$(id -u)" = 0 ] || continue # others may not open the file of a mapping
	fresh $id
	cp service other
	start ./service 0 "$dir/lib.so" rename lib.so new.so && replaced && start ./other 0 "$dir/lib.so" rename lib.so new.so &&
		gather 200 attach && named "a library, $id" ${pids[0]} old_work && named "the one in its place, $id" ${pids[1]} new_work
	end
done

# (a sample was read before, so that the file is open)
sees_old() { "$B/tailor" report --samples t.tlr 2>/dev/null | grep -q "old_work"; }
for id in sha1 none; do
	fresh $id
	rm -f t.tlr
	start ./service 0 "$dir/lib.so" overwrite lib.so new.so || break
	"$B/tailor" attach -q -e "$(plain_event)" -o t.tlr ${pids[0]} >out 2>&1 & recorder=$!
	wait_for sees_old && replaced
	kill -INT $recorder
	wait $recorder
	"$B/tailor" report --view warnings t.tlr | tr -s ' \n' '  ' | grep -q 'lib.so, which was mapped, was overwritten' ||
		fail "a library that was overwritten, $id: expected a sentence"
	end
done

fresh sha1
start ./service 0 - rename service new || exit 1
"$B/tailor" watch -q --epochs 1s --store s.tlrs ${pids[0]} >out 2>&1 & recorder=$!
epochs() { # NUMBER: so many are in the store
	local have
	have=$("$B/tailor" db report --json s.tlrs 2>/dev/null | grep -o '"epochs": *[0-9]*' | grep -o '[0-9]*$')
	[ "${have:-0}" -ge "$1" ]
}
wait_for epochs 2 && replaced && wait_for epochs 6
kill -INT $recorder
wait $recorder
"$B/tailor" db report --view processes s.tlrs >processes
grep -q 'service$' processes && ! grep -q '(deleted)' processes ||
	fail "watch: expected one process before and after: $(cat processes)"
"$B/tailor" db report --view functions s.tlrs | grep -q 'old_work' || fail "watch: expected the function's name"
end
finish
