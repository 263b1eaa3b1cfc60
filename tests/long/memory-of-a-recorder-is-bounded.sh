#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor watch` and what adds its epochs to the store have 64 MiB of memory at most, where a program makes and frees 50,000 functions a
# minute, and where a hundred processes a second begin and end: five minutes of each (SECONDS_EACH) of epochs that would last ten.
. tests/live/begin.bash
cat >"$dir/queries.c" <<'END'
/* 50,000 functions a minute until it is killed, of which the newest thousand are there. */
#include "jitreg.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LIVING 1000u
#define BYTES 512u

int main(void)
{
	static const unsigned char spin[] = { 0x89, 0xf8, 0x83, 0xe8, 0x01, 0x75, 0xfb, 0xc3 }; /* as hosts/reuse */
	unsigned char *code = mmap(NULL, LIVING * BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec next;
	char name[128];

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (unsigned i = 0;; i++) {
		unsigned char *at = code + i % LIVING * BYTES;

		if (i >= LIVING)
			jitreg_code_unload((uint64_t)(uintptr_t)at, BYTES);
		memcpy(at, spin, sizeof(spin));
		snprintf(name, sizeof(name), "query_%u_pipeline_%u(lineitem, orders, customer)", i / 5, i % 5);
		jitreg_code_load((uint64_t)(uintptr_t)at, BYTES, i, name, at);
		__asm__ volatile("call *%0" : : "r"(at), "D"(200000) : "rax", "cc", "memory");
		next.tv_nsec += 1200000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}
END
cat >"$dir/processes.c" <<'END'
/* A hundred processes a second until it is killed. */
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>

int main(void)
{
	char *words[] = { "/bin/true", NULL };
	struct timespec next;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		if (posix_spawn(&pid, words[0], NULL, NULL, words, NULL) == 0)
			waitpid(pid, NULL, 0);
		next.tv_nsec += 10000000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}
END
${CC:-cc} -O1 -Ijitreg -o "$dir/queries" "$dir/queries.c" && ${CC:-cc} -O1 -o "$dir/processes" "$dir/processes.c" || exit 1
cat >"$dir/test.py" <<'END'
import glob, os, signal, subprocess, sys, time
B, DIR = sys.argv[1:]
SECONDS, MOST_MIB = float(os.environ.get("SECONDS_EACH", 300)), 64
bad = 0

def children(pid):
    try:
        return [int(p) for p in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []

def peak_kib(pid):
    """and what it is; 0: it has gone, or is the host"""
    try:
        words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
        kib = next(int(l.split()[1]) for l in open(f"/proc/{pid}/status") if l.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return 0, ""
    return (kib, "fold") if words[1:3] == [b"db", b"add"] else (kib, "end of an epoch") if words[1:2] == [b"watch"] else (0, "")

for name in "queries", "processes":
    store = f"{DIR}/{name}.tlrs"
    with open(f"{DIR}/{name}.said", "w") as said:
        watch = subprocess.Popen([f"{B}/tailor", "watch", "--store", store, "--keep", "1000", "--", f"{DIR}/{name}"], stderr=said)
    peaks, begin, asked = {}, time.monotonic(), False
    while watch.poll() is None:
        for pid in [watch.pid, *children(watch.pid)]:
            kib, what = peak_kib(pid)
            if kib:
                key = (pid, "recorder" if pid == watch.pid else what)
                peaks[key] = max(kib, peaks.get(key, 0))
        if not asked and time.monotonic() - begin > SECONDS:
            asked = True
            for pid in children(watch.pid): # the host
                if not peak_kib(pid)[0]:
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    most = {w: max((k for (_, what), k in peaks.items() if what == w), default=0) / 1024 for w in ("recorder", "end of an epoch", "fold")}
    traces = glob.glob(f"{store}.epochs/*.tlr")
    print(f"FIGURE {name}: {SECONDS:.0f} s in {len(traces)} epochs of {sum(map(os.path.getsize, traces)) / 2**20:.1f} MiB; at most: "
          f"recorder {most['recorder']:.0f} MiB, end of an epoch {most['end of an epoch']:.0f} MiB, fold {most['fold']:.0f} MiB")
    if not asked or not traces or max(most.values()) > MOST_MIB:
        print(f"{name}: expected at most {MOST_MIB} MiB, got {most}: {open(f'{DIR}/{name}.said').read()}")
        bad = 1
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
