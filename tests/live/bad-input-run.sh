#!/bin/bash
# SPDX-License-Identifier: MIT
# What `tailor run` is given that cannot work, or works only in part: one clear sentence, the right exit status, and the
# host runs to its own end, with its own output and exit status, and a readable trace.
. tests/live/begin.bash
chmod 755 "$dir"
trap 'umount -l "$dir/tiny" 2>/dev/null; rm -rf "$dir"' EXIT
T=$dir/t.tlr

# case NAME STATUS SENTENCE COMMAND...: exit status, and stderr matches SENTENCE (a regular expression; empty: no stderr but
# the summary).  With SENTENCE "-" anything goes.
case_() {
	name=$1 status=$2 sentence=$3
	shift 3
	# An agent waits at most 80 ms for a recorder that sleeps, which one that waits for a busy disk does: then the run is repeated.
	for attempt in 1 2 3 4 5; do
		timeout "$PATIENCE_S" "$@" >"$dir/out" 2>"$dir/err" </dev/null
		got=$?
		[ -z "$sentence" ] && grep -q 'ended before the reason could be read' "$dir/err" || break
	done
	others=$(grep -vcE '^tailor run: [0-9]+ samples? of' "$dir/err")
	ok=1
	[ $got = "$status" ] || ok=0
	if [ -z "$sentence" ]; then
		[ "$others" = 0 ] || ok=0
	elif [ "$sentence" != - ]; then
		[ "$(grep -cE -e "$sentence" "$dir/err")" = 1 ] || ok=0
	fi
	[ $ok = 0 ] || return 0
	fail "$name: $*"
	echo "  expected: exit $status, stderr with: ${sentence:-nothing but the summary}"
	echo "  actual:   exit $got, stderr:"
	sed 's/^/    /' "$dir/err"
	return 1
}
expect() { # NAME EXPECTED ACTUAL
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}
samples() { # the number of samples in the trace, -1 when it cannot be read to its end
	"$B/tailor" dump "$1" 2>"$dir/dump.err" | sed -n 's/.* END .*samples=\([0-9]*\).*/\1/p'
	[ ! -s "$dir/dump.err" ] || { echo -1; cat "$dir/dump.err" >&2; }
}
at_least() { # NAME TRACE SAMPLES
	n=$(samples "$2")
	[ "${n:-0}" -ge "$3" ] 2>/dev/null || fail "$1: expected $3 samples or more in a readable trace, got '${n:-none}'"
}

# The hosts use $BURN ms of processor time, so they give as many samples on a busy machine as on an idle one; and so few that even a
# small ring has room for all of them.
WANTED=50
export BURN=150
enough= # what a plain host had to use for WANTED samples
plain_samples() { # SECONDS
	BURN=$((150 * $1))
	enough=$BURN
	case_ "plain" 3 "" $(run) -- "$dir/host" && n=$(samples "$T")
}
# sampled TRACE NAME STATUS SENTENCE COMMAND...: a case whose trace has WANTED samples, where the host may use eight times as much
# of the processor as the plain one had to
sampled() {
	local trace=$1
	shift
	[ -n "$enough" ] || { BURN=150 case_ "$@"; return; }
	for ((BURN = enough; BURN <= 8 * enough; BURN *= 2)); do
		case_ "$@" || break
		n=$(samples "$trace")
		[ "${n:-0}" -lt "$WANTED" ] || break
	done
	BURN=150
	at_least "$1" "$trace" "$WANTED"
}
RATE=$(allowed_rate 1000)
EVENT=$(plain_event)
run() { echo "$B/tailor run -e $EVENT -r $RATE -o $T"; }

cat >"$dir/host.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile double x;
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void burn(void) { double end = now() + atof(getenv("BURN")) / 1e3; while (now() < end) for (int i = 0; i < 1000; i++) x += i; }
#ifdef FORK_FIRST
__attribute__((constructor)) static void fork_first(void) { if (fork() == 0) { burn(); _exit(0); } wait(NULL); }
#endif
int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "close")) {
		printf("host\n"); fflush(stdout);
		for (int i = 0; i < 1024; i++) close(i);
		burn();
		return 3;
	}
	if (argc > 1 && !strcmp(argv[1], "file")) {
		FILE *f = fopen(argv[2], "w");
		static char block[1 << 12];
		for (int i = 0; i < 10; i++) fwrite(block, 1, sizeof block, f);
		if (fclose(f)) return 99;
	}
	burn();
	printf("host\n");
	return 3;
}
C
gcc -O1 -o "$dir/host" "$dir/host.c" || exit 1
gcc -O1 -DFORK_FIRST -o "$dir/forks" "$dir/host.c" || exit 1
gcc -O1 -static -o "$dir/static" "$dir/host.c" 2>/dev/null || echo "no static libc here"
cat >"$dir/host32.c" <<'C'
/* without libc: only a loader that sees LD_PRELOAD is wanted */
__asm__(".globl _start\n_start: mov %esp, %eax\n push %eax\n call begin\n");
static int kernel(int nr, int a, void *b) { __asm__ volatile("int $0x80" : "+a"(nr) : "b"(a), "c"(b) : "memory"); return nr; }
void begin(char **stack)
{
	int ms = 0, now[2] = { 0 };

	for (stack += 2 + (long)stack[0]; *stack; stack++)
		if ((*stack)[0] == 'B' && (*stack)[1] == 'U' && (*stack)[2] == 'R' && (*stack)[3] == 'N' && (*stack)[4] == '=')
			for (char *c = *stack + 5; *c; c++) ms = 10 * ms + *c - '0';
	while (now[0] * 1000 + now[1] / 1000000 < ms) {
		for (volatile int i = 0; i < 100000; i++) ; /* not all the time in the kernel, where some users' samples are left out */
		kernel(265, 2, now); /* clock_gettime(CLOCK_PROCESS_CPUTIME_ID) */
	}
	kernel(1, 3, 0);
}
C
gcc -m32 -O1 -nostdlib -o "$dir/host32" "$dir/host32.c" -Wl,--no-as-needed -lc 2>/dev/null || echo "no 32-bit libc here"
if [ -x "$dir/host32" ] && { BURN=1 "$dir/host32"; [ $? != 3 ]; }; then
	echo "this kernel runs no 32-bit programs"
	rm "$dir/host32"
fi
printf '#!%s/host\n' "$dir" >"$dir/script"
printf 'exit 6\n' >"$dir/no-interpreter"
chmod +x "$dir/script" "$dir/no-interpreter"

case_ "a dormant host's trace" 2 '--dormant writes no trace; give -o to .tailor start PID.' "$B/tailor" run --dormant -o "$T" -- true
[ -n "${SAN:-}" ] || case_ "a limit of memory" 1 'out of memory for samples: ulimit -v is 60000 KiB; raise it' \
	bash -c 'ulimit -v 60000; exec "$@"' bash "$B/tailor" run -o "$T" -- true
case_ "a store without its folder" 1 "the folder $dir/none does not exist" "$B/tailor" watch --store "$dir/none/w.tlrs" -- true

# A user of our own: what the kernel lets one lock for rings is counted by user, and others may record as nobody.
somebody=
uid=$((1000000000 + $$))
if [ "$(id -u)" != 0 ] || ! setpriv --reuid $uid --clear-groups test -x "$B/tailor" -a -x "$dir" 2>/dev/null; then
	echo "left out, because this user cannot become another: what other users meet"
elif [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	echo "left out, because only root may sample here: what other users meet"
else
	somebody="setpriv --reuid $uid --clear-groups"
	mkdir "$dir/theirs" && chown $uid "$dir/theirs"
fi

# ---- nothing is run (a folder in PATH that this user may not read would make it "Permission denied")
case_ "no command" 2 'no command given' $(run)
case_ "no such command" 127 'no-such-command: command not found' env PATH=/usr/bin:/bin $(run) -- no-such-command
case_ "no such path" 127 '/no/such/path: command not found' $(run) -- /no/such/path
case_ "empty command" 127 ': command not found' $(run) -- ""
case_ "not executable" 126 'host.c: Permission denied' $(run) -- "$dir/host.c"
case_ "a folder" 126 'Is a directory' $(run) -- "$dir"
case_ "no descriptor for --usage-fd" 2 "open descriptor, not 'x'" $(run) --usage-fd x -- "$dir/host"
case_ "no such event" 2 "unknown event 'no-such-event'" $(run) -e no-such-event -- "$dir/host"
case_ "an event nearly right" 2 "unknown event 'cycels'; similar names: cycles" $(run) -e cycels -- "$dir/host"
case_ "another processor's event" 2 "unknown event 'core::UNHALTED_CORE_CYCLES'" $(run) -e core::UNHALTED_CORE_CYCLES -- "$dir/host"
case_ "no event in a list" 2 "empty event name" $(run) -e task-clock,,cycles -- "$dir/host"
case_ "no such period" 2 "'cycles@0': period must be a number" $(run) -e cycles@0 -- "$dir/host"
case_ "no possible period" 2 "'task-clock@5': a period of 5 ns is too short" $(run) -e task-clock@5 -- "$dir/host"
case_ "no precise clock" 2 "'task-clock:p': precise sampling is not supported for software events" $(run) -e task-clock:p -- "$dir/host"
case_ "no such PMU" 2 "this machine has no PMU 'nothing'" $(run) -e nothing/event=1/ -- "$dir/host"
case_ "no such scope" 2 "--scope must be cpu or thread, not 'core'" $(run) --scope core -- "$dir/host"
case_ "no such register" 2 "unknown register 'r99'" $(run) --registers bx,r99 -- "$dir/host"
case_ "no such rate" 2 "--rate must be a number from" $(run) -r -5 -- "$dir/host"
case_ "no such stack" 2 "--stack must be a number from" $(run) --stack 2k -- "$dir/host"
case_ "no such folder" 1 'No such file or directory' "$B/tailor" run -o "$dir/no/t.tlr" -- "$dir/host"
case_ "a folder as output" 1 'Is a directory' "$B/tailor" run -o "$dir" -- "$dir/host"
expect "a trace that was not begun" "" "$(ls "$dir" | grep tlr)"
[ -z "$somebody" ] || case_ "unwritable folder" 1 'Permission denied' $somebody "$B/tailor" run -o "$dir/t.tlr" -- "$dir/host"
echo "TLRC precious" >"$T"
case_ "an old trace survives a bad event" 2 - $(run) -e no-such-event -- "$dir/host"
case_ "an old trace survives a bad command" 127 - env PATH=/usr/bin:/bin $(run) -- no-such-command
expect "the old trace" "TLRC precious" "$(cat "$T")"

# ---- the host runs, heard or not
gather $WANTED plain_samples || enough=
expect "the host's output" host "$(cat "$dir/out")"
case_ "options of the command" 3 "" $(run) "$dir/host" ignored -o --scope
case_ "killed" 137 "" $(run) -- sh -c 'kill -9 $$'
sampled "$T" "a script" 3 "" $(run) -- "$dir/script"
case_ "no interpreter line" 6 "" $(run) -- "$dir/no-interpreter"
if [ -x "$dir/static" ]; then
	sampled "$T" "static" 3 'agent unavailable in .*static \(statically linked\); sampling without' $(run) -- "$dir/static"
	sampled "$T" "static, by thread" 3 'per CPU instead of per thread' $(run) --scope thread -- "$dir/static"
fi
if [ -x "$dir/host32" ]; then
	sampled "$T" "32-bit" 3 '\(not a 64-bit x86 program\)' $(run) -- "$dir/host32"
	expect "what the loader says about the agent" "" "$(grep -i 'ld.so' "$dir/err")"
fi
if [ -n "$somebody" ]; then
	cp "$dir/host" "$dir/setuid" && chmod 4755 "$dir/setuid"
	case_ "setuid" 3 'its loader ignores LD_PRELOAD' \
		$somebody "$B/tailor" run -r $RATE -o "$dir/theirs/t.tlr" -- "$dir/setuid"
	expect "the setuid host's output" host "$(cat "$dir/out")"
	at_least "setuid" "$dir/theirs/t.tlr" 0
	case_ "root's trace" 1 'Permission denied; it belongs to root: use sudo, or chown it' $somebody "$B/tailor" report "$T"
fi
sampled "$T" "closes everything" 3 "" $(run) -- "$dir/host" close
WANTED=$((2 * WANTED)) sampled "$T" "forks before main" 3 "" $(run) -- "$dir/forks"
expect "forks before main: processes" 1 "$(grep -c ' samples of 2 processes' "$dir/err")"
# each processor has a ring of 8 MiB and a descriptor
processors=$(getconf _NPROCESSORS_ONLN)
for scope in cpu thread; do
	if [ -z "${SAN:-}" ]; then # the address sanitizer itself needs terabytes
		sampled "$T" "little address space, $scope" 3 "" \
			bash -c "ulimit -v $((120000 + 8192 * processors)); exec $(run) --scope $scope -- $dir/host"
	fi
	sampled "$T" "small files, $scope" 3 "" bash -c "ulimit -Sf 100; exec $(run) --scope $scope -- $dir/host file $dir/file"
done

# ---- descriptors and locked memory
limit="exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n" # whatever the caller has open
sixteen=$((14 + processors))
case_ "eight descriptors" 1 'Too many open files \(ulimit -n' bash -c "$limit 8; exec $(run) -- $dir/host"
case_ "sixteen descriptors" 3 "" bash -c "$limit $sixteen; exec $(run) -- $dir/host"
case_ "sixteen descriptors, by thread" 3 - bash -c "$limit $sixteen; exec $(run) --scope thread -- $dir/host"
if [ -n "$somebody" ]; then
	left_out='kernel samples unavailable'
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ] || left_out=
	sampled "$dir/theirs/t.tlr" "no locked memory" 3 "$left_out" \
		$somebody bash -c "ulimit -l 0; exec $B/tailor run -e task-clock -r $RATE -o $dir/theirs/t.tlr -- $dir/host"
fi

# ---- the trace cannot be written to its end: the host is not disturbed, and the loss is counted
full='cannot write the whole trace .*: (No space left on device|File too large)'
case_ "a full disk" 3 "$full" "$B/tailor" run -r $RATE -o /dev/full -- "$dir/host"
expect "the host's output" host "$(cat "$dir/out")"
[ -c /dev/full ] || fail "/dev/full: removed"
too_large() { # SECONDS of the host's processor time
	BURN=$((400 * $1)) case_ "files of 100 KiB at most" 3 - \
		bash -c "ulimit -f 100; exec $(run) -r 20000 --registers all --no-compress -- $dir/host file $dir/file" || return 1
	# samples of 200 bytes each, in the trace or not: a thousand of them cannot be in it
	n=$(grep -oE '[0-9]+ samples of|trace write failed: [0-9]+' "$dir/err" | grep -oE '[0-9]+' | awk '{ n += $1 } END { print n + 0 }')
}
if gather 1000 too_large; then
	expect "files of 100 KiB at most: $full" 1 "$(grep -cE "$full" "$dir/err")"
	at_least "files of 100 KiB at most" "$T" 0
	expect "samples that could not be written" 1 "$(grep -c 'trace write failed: [1-9]' "$dir/err")"
fi
# Before the disk is full some samples must have been written, which a recorder does when it comes to it.
cat >"$dir/fills-up" <<SH
while
	$dir/host
	n=\$(env -u LD_PRELOAD -u TAILOR_SOCKET $B/tailor dump $dir/tiny/t.tlr 2>&1 |
		sed -n 's/.* SAMPLES event=0 nr=//p' | awk '{ n += \$1 } END { print n + 0 }')
	[ \$n -lt $WANTED ] && [ "\${#tries}" -lt 100 ]
do
	tries=\$tries.
done
cat /dev/zero >$dir/tiny/rest 2>/dev/null
BURN=1000 $dir/host
SH
if [ "$(id -u)" = 0 ] && mkdir "$dir/tiny" && mount -t tmpfs -o size=4m none "$dir/tiny" 2>/dev/null; then
	case_ "a disk that fills up" 3 "$full" \
		"$B/tailor" run -r $RATE --stack 8192 -o "$dir/tiny/t.tlr" --no-compress -- sh "$dir/fills-up"
	at_least "a disk that fills up" "$dir/tiny/t.tlr" $WANTED
	sum() { "$B/tailor" dump "$dir/tiny/t.tlr" | sed -n "s/$1/\\1/p" | awk '{ n += $1 } END { print n + 0 }'; }
	expect "END's count of what is in the trace" "$(samples "$dir/tiny/t.tlr")" "$(sum '.* SAMPLES event=0 nr=\([0-9]*\).*')"
	expect "the losses in the trace" "$(sed -n 's/.*trace write failed: \([0-9]*\).*/\1/p' "$dir/err")" \
		"$(sum '.*LOSS reason="trace write failed" count=\([0-9]*\).*')"
fi
[ $bad = 0 ] && echo "every bad input got its sentence and its status"
finish
