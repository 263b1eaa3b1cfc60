#!/bin/bash
# SPDX-License-Identifier: MIT
# A service that is restarted ten times in five minutes under `tailor watch --name`: its processor time in the store is within 3 % of what
# its control group has (cpuacct of version 1, cpu.stat of version 2), or, without one, of what the parent was told by wait4().  Takes six
# minutes: tests/long/restarts-are-in-the-record.sh build [SECONDS]
. tests/live/begin.bash
SECONDS_OF_ALL=${2:-300}
cat >"$dir/service.c" <<'C'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Works for 7 of 10 ms, until the time is over. */
int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct timespec begin, t, from;
	volatile unsigned n = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (;;) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		do {
			for (int i = 0; i < 10000; i++)
				n++;
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		} while ((double)(t.tv_sec - from.tv_sec) + (double)(t.tv_nsec - from.tv_nsec) / 1e9 < 0.007);
		usleep(3000);
		clock_gettime(CLOCK_MONOTONIC, &t);
		if ((double)(t.tv_sec - begin.tv_sec) + (double)(t.tv_nsec - begin.tv_nsec) / 1e9 >= seconds)
			return 0;
	}
}
C
${CC:-cc} -O1 -o "$dir/tlong_service" "$dir/service.c" || exit 1
cat >"$dir/test.py" <<'END'
import json, os, subprocess, sys, time
B, DIR, ALL_S = sys.argv[1], sys.argv[2], float(sys.argv[3])
RESTARTS, GAP_S, WITHIN, PATIENCE_S = 10, 0.3, 0.03, 120
STORE, GROUP = f"{DIR}/w.tlrs", f"tailor-test-{os.getpid()}"

def make_group():
    for root, used in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "cpu.stat")):
        try:
            os.mkdir(f"{root}/{GROUP}")
        except OSError:
            continue
        if os.path.exists(f"{root}/{GROUP}/{used}"):
            return f"{root}/{GROUP}", used
        os.rmdir(f"{root}/{GROUP}")
    return None, None

def read_used(group, used):
    text = open(f"{group}/{used}").read().split()
    return int(text[1]) / 1e6 if used == "cpu.stat" else int(text[0]) / 1e9

def start(group):
    def enter():
        if group:
            with open(f"{group}/cgroup.procs", "w") as f:
                f.write(str(os.getpid()))
    return subprocess.Popen([f"{DIR}/tlong_service", str(ALL_S / RESTARTS - GAP_S)], preexec_fn=enter)

group, used = make_group()
watch = subprocess.Popen([f"{B}/tailor", "watch", "--store", STORE, "--epochs", "10s", "--name", "^tlong_service$"],
                         stderr=subprocess.PIPE, text=True)
first = watch.stderr.readline()
begin = time.monotonic()
while not os.path.isdir(f"{STORE}.epochs") and time.monotonic() - begin < PATIENCE_S:
    time.sleep(0.05)
waited = 0
for _ in range(RESTARTS):
    u = os.wait4(start(group).pid, 0)[2]
    waited += u.ru_utime + u.ru_stime
    time.sleep(GAP_S)
truth = read_used(group, used) if group else waited
if group:
    os.rmdir(group)
time.sleep(1)
watch.terminate()
said = watch.communicate()[1]
tables = {v: json.loads(subprocess.run([f"{B}/tailor", "db", "report", STORE, "--view", v, "--json"], capture_output=True,
                                       text=True).stdout)["tables"] for v in ("processes", "reasons")}
got = sum(p["weight"] for p in tables["processes"]["processes"]) / 1e9
late = sum(l["count"] for l in tables["reasons"].get("losses", []) if l["name"].startswith("microseconds of new")) / 1e6
print(f"FIGURE {RESTARTS} restarts in {ALL_S:.0f} s: {truth:.3f} s by {used or 'wait4()'}, {waited:.3f} s by wait4(), {got:.3f} s in the "
      f"store ({100 * (got / truth - 1):+.2f} %), at most {late:.4f} s before counters; {first.strip()}")
if watch.returncode or abs(got / truth - 1) > WITHIN:
    sys.exit(f"expected {truth:.3f} s within {100 * WITHIN:.0f} %, got {got:.3f}; watch ended with {watch.returncode}: {said}")
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir" "$SECONDS_OF_ALL"
finish
