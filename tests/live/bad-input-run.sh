#!/bin/bash
# SPDX-License-Identifier: MIT
# What `tailor run` is given that cannot work, or works only in part: one clear sentence, the right exit status, and the
# host runs to its own end, with its own output and exit status, and a readable trace.
set -u
B=$1
dir=$(mktemp -d)
chmod 755 "$dir"
trap 'umount "$dir/tiny" 2>/dev/null; rm -rf "$dir"' EXIT
T=$dir/t.tlr
bad=0

# case NAME STATUS SENTENCE COMMAND...: exit status, and stderr matches SENTENCE (a regular expression; empty: no stderr but
# the summary).  With SENTENCE "-" anything goes.
case_() {
	name=$1 status=$2 sentence=$3
	shift 3
	timeout 60 "$@" >"$dir/out" 2>"$dir/err" </dev/null
	got=$?
	others=$(grep -vcE '^tailor run: [0-9]+ samples? of' "$dir/err")
	ok=1
	[ $got = "$status" ] || ok=0
	if [ -z "$sentence" ]; then
		[ "$others" = 0 ] || ok=0
	elif [ "$sentence" != - ]; then
		[ "$(grep -cE -e "$sentence" "$dir/err")" = 1 ] || ok=0
	fi
	if [ $ok = 0 ]; then
		echo "$name: $*"
		echo "  expected: exit $status, stderr with: ${sentence:-nothing but the summary}"
		echo "  actual:   exit $got, stderr:"
		sed 's/^/    /' "$dir/err"
		bad=1
	fi
}
expect() { # NAME EXPECTED ACTUAL
	[ "$2" = "$3" ] && return
	echo "$1: expected '$2', got '$3'"
	bad=1
}
samples() { # the number of samples in the trace, -1 when it cannot be read to its end
	"$B/tailor" dump "$1" 2>"$dir/dump.err" | sed -n 's/.* END .*samples=\([0-9]*\).*/\1/p'
	[ -s "$dir/dump.err" ] && { echo -1; cat "$dir/dump.err" >&2; }
}
at_least() { # NAME TRACE SAMPLES
	n=$(samples "$2")
	[ "${n:-0}" -ge "$3" ] 2>/dev/null && return
	echo "$1: expected $3 samples or more in a readable trace, got '${n:-none}'"
	bad=1
}
# a rate that no kernel refuses: perf_event_max_sample_rate falls by itself on slow machines, and that is said
run() { echo "$B/tailor run -r 2000 -o $T"; }

cat >"$dir/host.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile double x;
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void burn(double s) { double end = now() + s; while (now() < end) for (int i = 0; i < 1000; i++) x += i; }
#ifdef FORK_FIRST
__attribute__((constructor)) static void fork_first(void) { if (fork() == 0) { burn(0.2); _exit(0); } wait(NULL); }
#endif
int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[2], "close")) {
		printf("host\n"); fflush(stdout);
		for (int i = 0; i < 1024; i++) close(i);
		burn(0.2);
		return 3;
	}
	if (argc > 2 && !strcmp(argv[2], "file")) {
		FILE *f = fopen(argv[3], "w");
		static char block[1 << 12];
		for (int i = 0; i < 10; i++) fwrite(block, 1, sizeof block, f);
		if (fclose(f)) return 99;
	}
	burn(atof(argv[1]));
	printf("host\n");
	return 3;
}
C
gcc -O1 -o "$dir/host" "$dir/host.c" || exit 1
gcc -O1 -DFORK_FIRST -o "$dir/forks" "$dir/host.c" || exit 1
gcc -O1 -static -o "$dir/static" "$dir/host.c" 2>/dev/null || echo "no static libc here"
cat >"$dir/host32.c" <<'C'
__attribute__((noreturn)) void _start(void)
{
	for (volatile int i = 0; i < 300000000; i++) ;
	__asm__ volatile("int $0x80" : : "a"(1), "b"(3));
	__builtin_unreachable();
}
C
# dynamic, so that a loader sees LD_PRELOAD; needs no 32-bit libgcc
gcc -m32 -O1 -nostdlib -o "$dir/host32" "$dir/host32.c" -Wl,--no-as-needed -lc 2>/dev/null || echo "no 32-bit libc here"
printf '#!%s/host 0.2\n' "$dir" >"$dir/script"
printf 'exit 6\n' >"$dir/no-interpreter"
chmod +x "$dir/script" "$dir/no-interpreter"

# ---- nothing is run
case_ "no command" 2 'there is no command to run' $(run)
case_ "no such command" 127 'no-such-command: there is no such command' $(run) -- no-such-command
case_ "no such path" 127 '/no/such/path: there is no such command' $(run) -- /no/such/path
case_ "empty command" 127 ': there is no such command' $(run) -- ""
case_ "not executable" 126 'host.c: Permission denied' $(run) -- "$dir/host.c"
case_ "a folder" 126 'Is a directory' $(run) -- "$dir"
case_ "no such event" 2 "there is no event 'no-such-event'" $(run) -e no-such-event -- "$dir/host" 9
case_ "an event nearly right" 2 "no event 'cycels' on this machine; near names: cycles" $(run) -e cycels -- "$dir/host" 9
case_ "another processor's event" 2 "no event 'core::UNHALTED_CORE_CYCLES'" $(run) -e core::UNHALTED_CORE_CYCLES -- "$dir/host" 9
case_ "no event in a list" 2 "there is no event ''" $(run) -e task-clock,,cycles -- "$dir/host" 9
case_ "no such period" 2 "'cycles@0': a period is a number" $(run) -e cycles@0 -- "$dir/host" 9
case_ "no possible period" 2 "'task-clock@5': a period of 5 ns is shorter than" $(run) -e task-clock@5 -- "$dir/host" 9
case_ "no precise clock" 2 "'task-clock:p' is an event of the kernel" $(run) -e task-clock:p -- "$dir/host" 9
case_ "no such PMU" 2 "it has no PMU 'gpu'" $(run) -e gpu/event=1/ -- "$dir/host" 9
case_ "no such scope" 2 "--scope is cpu or thread, not 'core'" $(run) --scope core -- "$dir/host" 9
case_ "no such register" 2 "there is no register 'r99'" $(run) --registers bx,r99 -- "$dir/host" 9
case_ "no such rate" 2 "--rate is a number from" $(run) -r -5 -- "$dir/host" 9
case_ "no such stack" 2 "--stack is a number from" $(run) --stack 2k -- "$dir/host" 9
case_ "no such folder" 1 'No such file or directory' "$B/tailor" run -o "$dir/no/t.tlr" -- "$dir/host" 9
case_ "a folder as output" 1 'Is a directory' "$B/tailor" run -o "$dir" -- "$dir/host" 9
expect "a trace that was not begun" "" "$(ls "$dir" | grep tlr)"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups test -x "$B/tailor"; then
	nobody="setpriv --reuid 65534 --clear-groups"
	case_ "unwritable folder" 1 'Permission denied' $nobody "$B/tailor" run -o "$dir/t.tlr" -- "$dir/host" 9
fi
echo precious >"$T"
case_ "an old trace survives a bad event" 2 - $(run) -e no-such-event -- "$dir/host" 9
case_ "an old trace survives a bad command" 127 - $(run) -- no-such-command
expect "the old trace" precious "$(cat "$T")"

# ---- the host runs, heard or not
case_ "plain" 3 "" $(run) -- "$dir/host" 0.3
expect "the host's output" host "$(cat "$dir/out")"
at_least "plain" "$T" 50
case_ "options of the command" 3 "" $(run) "$dir/host" 0.1 -o --scope
case_ "killed" 137 "" $(run) -- sh -c 'kill -9 $$'
case_ "a script" 3 "" $(run) -- "$dir/script"
at_least "a script" "$T" 50
case_ "no interpreter line" 6 "" $(run) -- "$dir/no-interpreter"
if [ -x "$dir/static" ]; then
	case_ "static" 3 'is statically linked, so no agent is loaded into it: it is sampled' $(run) -- "$dir/static" 0.3
	at_least "static" "$T" 50
	case_ "static, by thread" 3 'counting by CPU instead of by thread' $(run) --scope thread -- "$dir/static" 0.3
	at_least "static, by thread" "$T" 50
fi
if [ -x "$dir/host32" ]; then
	case_ "32-bit" 3 'is not a 64-bit x86 program' $(run) -- "$dir/host32" 0.3
	expect "what the loader says about the agent" "" "$(grep -i 'ld.so' "$dir/err")"
	at_least "32-bit" "$T" 50
fi
if [ -n "${nobody:-}" ]; then
	cp "$dir/host" "$dir/setuid" && chmod 4755 "$dir/setuid"
	mkdir -m 777 "$dir/free"
	case_ "setuid" 3 'is setuid or setgid, so the loader ignores the agent' \
		$nobody "$B/tailor" run -r 2000 -o "$dir/free/t.tlr" -- "$dir/setuid" 0.3
	expect "the setuid host's output" host "$(cat "$dir/out")"
	at_least "setuid" "$dir/free/t.tlr" 0
fi
case_ "closes everything" 3 "" $(run) -- "$dir/host" 0 close
at_least "closes everything" "$T" 50
case_ "forks before main" 3 "" $(run) -- "$dir/forks" 0.2
at_least "forks before main" "$T" 100
for scope in cpu thread; do
	if [ -z "${SAN:-}" ]; then # the address sanitizer itself needs terabytes
		case_ "little address space, $scope" 3 "" bash -c "ulimit -v 100000; exec $(run) --scope $scope -- $dir/host 0.3"
		at_least "little address space, $scope" "$T" 50
	fi
	case_ "small files, $scope" 3 "" bash -c "ulimit -Sf 100; exec $(run) --scope $scope -- $dir/host 0.3 file $dir/file"
	at_least "small files, $scope" "$T" 50
done

# ---- descriptors and locked memory
case_ "eight descriptors" 1 'Too many open files \(ulimit -n' bash -c "ulimit -n 8; exec $(run) -- $dir/host 0.1"
case_ "sixteen descriptors" 3 "" bash -c "ulimit -n 16; exec $(run) -- $dir/host 0.3"
case_ "sixteen descriptors, by thread" 3 - bash -c "ulimit -n 16; exec $(run) --scope thread -- $dir/host 0.3"
if [ -n "${nobody:-}" ]; then
	mkdir -p "$dir/nobody" && cp "$B/tailor" "$B/libtailor.so" "$dir/nobody/" && chown -R nobody "$dir/nobody"
	case_ "no locked memory" 3 'kernel code is left out' \
		$nobody bash -c "ulimit -l 0; exec $dir/nobody/tailor run -r 2000 -o $dir/nobody/t.tlr -- $dir/host 0.3"
	at_least "no locked memory" "$dir/nobody/t.tlr" 50
fi

# ---- the trace cannot be written to its end: the host is not disturbed, and the loss is counted
full='parts of the trace could not be written: (No space left on device|File too large)'
case_ "a full disk" 3 "$full" "$B/tailor" run -r 2000 -o /dev/full -- "$dir/host" 0.3
expect "the host's output" host "$(cat "$dir/out")"
[ -c /dev/full ] || { echo "/dev/full: removed"; bad=1; }
case_ "files of 100 KiB at most" 3 "$full" \
	bash -c "ulimit -f 100; exec $(run) -r 20000 --registers all --no-compress -- $dir/host 1 file $dir/file"
at_least "files of 100 KiB at most" "$T" 0
expect "samples that could not be written" 1 "$(grep -c 'trace write failed: [1-9]' "$dir/err")"
if [ "$(id -u)" = 0 ] && mkdir "$dir/tiny" && mount -t tmpfs -o size=4m none "$dir/tiny" 2>/dev/null; then
	case_ "a disk that fills up" 3 "$full" \
		"$B/tailor" run -r 2000 --stack 8192 -o "$dir/tiny/t.tlr" --no-compress -- \
		sh -c "$dir/host 1; cat /dev/zero >$dir/tiny/rest 2>/dev/null; $dir/host 2"
	at_least "a disk that fills up" "$dir/tiny/t.tlr" 50
	sum() { "$B/tailor" dump "$dir/tiny/t.tlr" | sed -n "s/$1/\\1/p" | awk '{ n += $1 } END { print n + 0 }'; }
	expect "END's count of what is in the trace" "$(samples "$dir/tiny/t.tlr")" "$(sum '.* SAMPLES event=0 nr=\([0-9]*\).*')"
	expect "the losses in the trace" "$(sed -n 's/.*trace write failed: \([0-9]*\).*/\1/p' "$dir/err")" \
		"$(sum '.*LOSS reason="trace write failed" count=\([0-9]*\).*')"
fi
[ $bad = 0 ] && echo "every bad input got its sentence and its status"
exit $bad
