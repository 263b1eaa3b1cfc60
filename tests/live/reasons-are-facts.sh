#!/bin/bash
# SPDX-License-Identifier: MIT
# Causes of missing samples, stacks, names and registrations, planted in real programs: the report (its first lines, and warnings) names
# each, and none of its neighbours, some of which a trace has beside it.  One table: a cause, what the report says of it.
. tests/live/begin.bash

declare -A says=(
	[nothing]='^$'
	[setuid]='processor time, of which its counters ran for [^:]*: [^ ]*/setuid: it is setuid'
	[capabilities]='processor time, of which its counters ran for [^:]*: [^ ]*/capabilities: it has file capabilities'
	[unreadable]='processor time, of which its counters ran for [^:]*: [^ ]*/unreadable: it may be executed by this user, and not read'
	[child]='no samples of 1 process \(capabilities\): the kernel ended their counters'
	[slept]='No samples: in the [0-9.]* s of the recording the command used [0-9.]* [um]s of processor time, and samples are 1.00 s'
	[short]='No samples: in the [0-9.]* s of the recording the command used [0-9.]* [um]s of processor time, and samples are 1.00 s'
	[slept_attached]='No samples: in the [0-9.]* s of the recording the recorded processes used no processor time'
	[few_events]='No samples: page-faults was counted [0-9]* times, and a sample is taken every 1000000'
	[killed]='No samples: the trace has no end|incomplete|the recorder was killed'
	[filter]='No samples: none of the [0-9]* recorded samples passes the filter'
	[seccomp]='perf events unavailable \(not permitted: a seccomp filter is in force'
	[user_only]='kernel samples unavailable \(not permitted'
	[static]='agent unavailable in [^ ]* \(statically linked\)'
	[no_preload]='agent unavailable in [^ ]* \(--no-preload\)'
	[environment]='agent unavailable in 1 process \(busy\): no LD_PRELOAD in the environment'
	[short_copy]='truncated: longer than 1 KiB, which were recorded \(--stack 65528\)'
	[longest_copy]='truncated: longer than 64 KiB, which were recorded[;)]'
	[no_stack]='no stack was recorded \(--stack 65528\)'
	# (of a percent and more: the loader's first instructions are such code in every program)
	[no_unwind]='(^|[^0-9.])([1-9][0-9]*\.[0-9]|100) % end at code without unwind information'
	[map_of_others]='did not name. /tmp/perf-[0-9]*.map belongs to user 65534'
	[file_size]='writing the trace failed: File too large'
	[descriptors]='Too many open files|limit of open files'
)
# What comes with some of them, and is true: the reports of these have more than one reason.
declare -A beside=(
	[setuid]="user_only" [capabilities]="user_only" [unreadable]="user_only" [child]="user_only" [short]="slept" [slept]="short"
	[map_of_others]="no_unwind"
)

cat >"$dir/busy.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>
#include <unistd.h>
static volatile unsigned sum;
__attribute__((noinline)) static void leaf(double seconds)
{
	for (long i = 0; i < (long)(seconds * 16e8); i++)
		sum += (unsigned)i;
}
__attribute__((noinline)) static int down(int depth, double seconds)
{
	if (depth)
		down(depth - 1, seconds);
	else
		leaf(seconds);
	return (int)++sum;
}
static const unsigned char loop[] = { 0x89, 0xf8, 0x6b, 0xc0, 0x1f, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xf7, 0xc3 };
static void run_generated(uid_t owner) /* of its perf map */
{
	char path[64];
	FILE *map;
	int (*code)(int) = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy((void *)code, loop, sizeof(loop));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx %zx generated\n", (long)code, sizeof(loop));
	fclose(map);
	if (chown(path, owner, -1))
		exit(1);
	for (int i = 0; i < 300; i++)
		sum += (unsigned)code(1000000);
	unlink(path);
}
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.3;

	if (argc > 2 && strcmp(argv[2], "generated") == 0)
		run_generated(argc > 3 ? (uid_t)atoi(argv[3]) : getuid());
	else if (argc > 2 && strcmp(argv[2], "sleep") == 0)
		usleep((useconds_t)(seconds * 1e6));
	else
		down(argc > 2 ? atoi(argv[2]) : 0, seconds);
	return 0;
}
END
gcc -O1 -fno-optimize-sibling-calls -o "$dir/busy" "$dir/busy.c" && gcc -O1 -static -o "$dir/static" "$dir/busy.c" &&
	gcc -O1 -s -fomit-frame-pointer -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -fno-unwind-tables \
		-o "$dir/undescribed" "$dir/busy.c" || exit 1
if [ "$(id -u)" = 0 ]; then # programs of root's, which nobody executes
	mkdir "$dir/of_nobody" "$dir/bin" && cp "$B/tailor" "$B/libtailor.so" "$dir/bin" && cp "$B/tailor-record" "$dir/bin" 2>/dev/null
	chmod 755 "$dir" "$dir/bin" "$dir/bin"/* && chown nobody "$dir/of_nobody"
	for name in setuid capabilities unreadable; do cp "$dir/busy" "$dir/$name"; done
	chmod 4755 "$dir/setuid" && chmod 0711 "$dir/unreadable"
	setcap cap_net_raw+ep "$dir/capabilities" 2>/dev/null ||
		{ unset 'says[capabilities]' 'says[child]'; echo "not checked: file capabilities, setcap is not there"; }
	as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
else
	unset 'says[setuid]' 'says[capabilities]' 'says[unreadable]' 'says[child]' 'says[user_only]' 'says[map_of_others]'
	echo "not checked: programs and files of other users, this user cannot become another"
fi

checked=0
report() { # CAUSE TRACE [OPTION...]: what was planted there
	local cause=$1 trace=$2 name
	shift 2
	{
		"$B/tailor" report "$@" "$trace"
		"$B/tailor" report --view warnings --view tree "$@" "$trace"
	} 2>&1 | tr '\n' ' ' | tr -s ' ' >"$dir/said"
	for name in "${!says[@]}"; do
		[ "$name" != nothing ] || continue
		if [ "$name" = "$cause" ]; then
			grep -qE "${says[$name]}" "$dir/said" ||
				fail "$cause: expected '${says[$name]}', got: $(cut -c1-1500 "$dir/said")"
		elif [[ " ${beside[$cause]:-} " != *" $name "* ]] && grep -qE "${says[$name]}" "$dir/said"; then
			fail "$cause: expected no word of $name ('${says[$name]}'), got: $(cut -c1-1500 "$dir/said")"
		fi
	done
	checked=$((checked + 1))
}
plant() { # CAUSE OPTION... -- COMMAND...
	local cause=$1
	shift
	[ -n "${says[$cause]:-}" ] || return 0
	"$B/tailor" run -q -o "$dir/$cause.tlr" "$@" >"$dir/out" 2>&1
	report "$cause" "$dir/$cause.tlr"
}
plant_as_nobody() {
	local cause=$1
	shift
	[ -n "${says[$cause]:-}" ] || return 0
	(cd "$dir" && as_nobody "$dir/bin/tailor" run -q -o "$dir/of_nobody/$cause.tlr" "$@") >"$dir/out" 2>&1
	[ -e "$dir/of_nobody/$cause.tlr" ] || { echo "not checked: $cause ($(tail -1 "$dir/out"))"; return 0; }
	report "$cause" "$dir/of_nobody/$cause.tlr"
}
plant nothing -- "$dir/busy"
plant_as_nobody setuid -- "$dir/setuid"
plant_as_nobody capabilities -- "$dir/capabilities"
plant_as_nobody unreadable -- "$dir/unreadable"
plant_as_nobody child -- sh -c "$dir/capabilities; true"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ] || plant_as_nobody user_only -- "$dir/busy"
for name in ${says[setuid]:+setuid} ${says[unreadable]:+unreadable} ${says[capabilities]:+capabilities}; do
	as_nobody "$dir/bin/tailor" doctor --json "$dir/$name" 2>&1 | grep -q 'the kernel ends its counters when it is executed' ||
		fail "doctor $name: expected that the kernel ends its counters"
done
plant slept -r 1 -- "$dir/busy" 1.1 sleep
plant short -r 1 -- "$dir/busy" 0.001
plant few_events -e page-faults@1000000 -- "$dir/busy"
report filter "$dir/nothing.tlr" --from 100000
"$B/hosts/forbid" "$B/tailor" run -q -o "$dir/seccomp.tlr" -- "$dir/busy" >"$dir/out" 2>&1
report seccomp "$dir/seccomp.tlr"
plant static -- "$dir/static"
plant no_preload --no-preload -- "$dir/busy"
plant environment -- env -i "$dir/busy"
plant short_copy --stack 1024 -- "$dir/busy" 0.3 400
plant longest_copy --stack 65528 -- "$dir/busy" 0.3 20000
plant no_stack --stack 0 -- "$dir/busy"
plant no_unwind -- "$dir/undescribed" 0.3 40
plant map_of_others -- "$dir/busy" 0.3 generated 65534
(ulimit -f 4 && exec "$B/tailor" run -q -o "$dir/file_size.tlr" -- "$dir/busy") >"$dir/out" 2>&1
report file_size "$dir/file_size.tlr"
"$dir/busy" 60 sleep &
sleeper=$!
"$B/tailor" attach -q -d 0.3 -o "$dir/slept_attached.tlr" $sleeper >"$dir/out" 2>&1
report slept_attached "$dir/slept_attached.tlr"
(ulimit -n 7 && exec "$B/tailor" attach -q -d 0.3 -o "$dir/d.tlr" $sleeper) >"$dir/out" 2>&1
grep -qE "${says[descriptors]}" "$dir/out" && ! grep -q exited "$dir/out" ||
	fail "attach without descriptors: expected '${says[descriptors]}', got: $(cat "$dir/out")"
kill $sleeper
# A recorder that is killed before it has written a sample.
"$B/tailor" run -q -o "$dir/killed.tlr" -- sh -c 'kill -9 $PPID; exit 0' >"$dir/out" 2>&1 &
wait $! 2>"$dir/err"
[ ! -s "$dir/killed.tlr" ] || report killed "$dir/killed.tlr"
echo "        $checked causes planted"
finish
