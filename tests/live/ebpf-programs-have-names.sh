#!/bin/bash
# SPDX-License-Identifier: MIT
# eBPF programs that the kernel compiled have names also if they are gone when the recording ends, by run, of the whole machine, and in a
# file of perf's that is imported. Two programs share the work 5 : 2.
. tests/live/begin.bash
[ "$(id -u)" = 0 ] || skip "eBPF programs are loaded by root"
cat >"$dir/filters.c" <<'C'
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int load(const char *name, int rounds)
{
	struct bpf_insn p[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 7 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = rounds },
		{ .code = BPF_ALU64 | BPF_MUL | BPF_K, .dst_reg = 0, .imm = 17 },
		{ .code = BPF_ALU64 | BPF_XOR | BPF_X, .dst_reg = 0, .src_reg = 3 },
		{ .code = BPF_ALU64 | BPF_SUB | BPF_K, .dst_reg = 3, .imm = 1 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 3, .off = -4 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insns = (unsigned long)p, .insn_cnt = sizeof(p) / sizeof(*p),
			     .license = (unsigned long)"GPL" };

	strcpy(a.prog_name, name);
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
}

static int run(int program)
{
	char packet[64] = { 0 };
	union bpf_attr a = { .test = { .prog_fd = (unsigned)program, .data_in = (unsigned long)packet, .data_size_in = sizeof(packet),
				       .repeat = 400 } };

	return (int)syscall(SYS_bpf, BPF_PROG_TEST_RUN, &a, sizeof(a));
}

int main(int argc, char **argv)
{
	int long_one = load("takes_five", 5000), short_one = load("takes_two", 2000);

	if (long_one < 0 || short_one < 0 || run(long_one) || run(short_one))
		return 77;
	for (int i = argc > 1 ? atoi(argv[1]) * 100 : 0; i > 0; i--)
		run(long_one), run(short_one);
	return 0;
}
C
gcc -O1 -o "$dir/filters" "$dir/filters.c" || exit 1
"$dir/filters" || skip "the kernel loads and runs no eBPF program for this user"

by_run() { timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$dir/filters" "$1"; }
by_machine() {
	"$dir/filters" "$1" &
	timeout 300 "$B/tailor" attach -q --all --duration $((2 * $1)) -o "$dir/t.tlr"
	wait $!
}
by_import() {
	timeout 300 perf record -q -o "$dir/perf.data" -- "$dir/filters" "$1" 2>/dev/null &&
		"$B/tailor" import -q -o "$dir/t.tlr" "$dir/perf.data"
}
record() { # SECONDS
	"$way" "$1" >/dev/null 2>"$dir/err" || { fail "$way: exit $?: $(cat "$dir/err")"; return 1; }
	read -r n five two rest < <("$B/tailor" report --budget 100 --view functions --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
rows = json.load(sys.stdin)["tables"]["functions"]
programs = [r for r in rows if r["name"].startswith("bpf_prog_")]
n = [sum(r["samples"] for r in programs if r["name"].endswith(end)) for end in ("_takes_five", "_takes_two")]
rest = sum(r["samples"] for r in rows if r["name"] == "[kernel]")
print(sum(n) + rest, *n, rest)')
}
for way in by_run by_machine by_import; do
	[ $way != by_import ] || command -v perf >/dev/null || continue
	gather 400 record || continue
	echo "$way: $five : $two samples, $rest in [kernel]"
	[ $((five + two)) -ge $((4 * rest)) ] || fail "$way: programs have no names"
	[ $((10 * five)) -ge $((20 * two)) ] && [ $((10 * five)) -le $((31 * two)) ] || fail "$way: expected 5 : 2"
done
finish
