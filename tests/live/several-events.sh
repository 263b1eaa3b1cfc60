#!/bin/bash
# SPDX-License-Identifier: MIT
# Several events at once, each with a period of its own, in both scopes: every event's samples are its own, they add up to what
# its counter says (within the period that each counter had begun, and what was lost), a fault has its address, and a thread that
# comes to a processor has left it before; hardware periods vary.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
cat >"$dir/host.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#define PAGES 2000
static void *touch(void *p)
{
	struct timespec begin, now, ms = { 0, 1000000 };
	volatile double x = 1;

	for (int i = 0; i < PAGES; i++)
		((volatile char *)p)[i * 4096] = 1;
	for (int i = 0; i < 50; i++)
		nanosleep(&ms, NULL);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 10000; i++)
			x = x * 1.0000001;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1e9 + now.tv_nsec - begin.tv_nsec < 5e8);
	return NULL;
}
int main(void)
{
	pthread_t t[2];
	char *p = mmap(NULL, 2 * PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, 2 * PAGES * 4096, MADV_NOHUGEPAGE);
	printf("%p %p\n", (void *)p, (void *)(p + 2 * PAGES * 4096));
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, touch, p + i * PAGES * 4096);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
C
gcc -O1 -o "$dir/host" "$dir/host.c" -lpthread || exit 1
events=task-clock@500003,page-faults@1,context-switches
if [ "$(id -u)" != 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 1 ]; then
	echo "skipped: faults and switches of the kernel may not be sampled here"
	exit 77
fi
for scope in cpu thread; do
	"$B/tailor" run -q --scope $scope --stack 0 -e $events -o "$dir/t.tlr" -- "$dir/host" >"$dir/out" 2>"$dir/err" || {
		echo "scope $scope: exit $?"; cat "$dir/err"; exit 1; }
	"$B/tailor" dump --json --samples "$dir/t.tlr" >"$dir/json" || exit 1
	/usr/bin/python3 - $scope "$(cat "$dir/out")" "$dir/json" <<'PYTHON' || bad=1
import json, sys
scope, range_, path = sys.argv[1:]
low, high = (int(x, 16) for x in range_.split())
events, counts, samples, lost = {}, {}, {}, 0
for line in open(path):
    r = json.loads(line)
    if "sample" in r:
        samples.setdefault(r["event"], []).append(r)
        continue
    f = r.get("fields", {})
    if r.get("record") == "EVENT":
        events[f["event"]] = f
    elif r.get("record") == "LOSS" and f["reason"] == "ring full":
        lost += f["count"]
    elif r.get("record") == "COUNT":
        c = counts.setdefault(f["event"], [0, 0, 0, 0])
        for i, k in enumerate(("value", "samples", "lost")):
            c[i] += f[k]
        c[3] += 1
names = [events[i]["name"] for i in sorted(events)]
if names != ["task-clock", "page-faults", "context-switches", "switch"]:
    sys.exit(f"scope {scope}: events {names}")
for i, (value, had, gone, counters) in counts.items():
    e, s = events[i], samples.get(i, [])
    weight = sum(x["weight"] for x in s)
    print(f"FIGURE scope {scope}, {e['name']}: counted {value} {e['unit']}, {had} samples of {weight} {e['unit']}, {gone} lost")
    if had != len(s):
        sys.exit(f"scope {scope}, {e['name']}: {had} samples came out of the rings, {len(s)} are in the trace")
    short = value - weight - gone * e["period"]
    # a clock's timer may come late, and what it is late is nobody's; counters stop within a period
    if short < -(counters + 1) * e["period"] or (e["period"] == 1 and short) or short > 0.5 * value:
        sys.exit(f"scope {scope}, {e['name']}: counted {value}, had {weight} and lost {gone}: {short} are missing")
inside = sum(low <= x["address"] < high for x in samples[1])
print(f"FIGURE scope {scope}: {inside} of 4000 faults in the pages that were touched, lost {lost}")
if inside + lost < 4000 or inside > 4000:
    sys.exit(f"scope {scope}: expected the 4000 faults of the pages between {low:x} and {high:x}, got {inside}")
# of one thread: gone, come, gone, come
by_thread = {}
for x in sorted(samples[3], key=lambda x: x["time_ns"]):
    by_thread.setdefault(x["tid"], []).append(x["weight"] == 0)
turns = sum(a != b for t in by_thread.values() for a, b in zip(t, t[1:]))
same = sum(a == b for t in by_thread.values() for a, b in zip(t, t[1:]))
print(f"FIGURE scope {scope}: {len(samples[3])} comings and goings of {len(by_thread)} threads, {same} out of turn")
if turns < 100 or same > turns / 100 + lost:
    sys.exit(f"scope {scope}: {turns} in turn, {same} not")
PYTHON
	# 2 threads sleep 50 times for a millisecond
	"$B/tailor" report --view offcpu --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
tables = json.load(sys.stdin)["tables"]
waiting = {f["name"]: f for f in tables["function"]}
sleep = sum(f["waiting_ns"] for n, f in waiting.items() if "nanosleep" in n)
times = sum(f["waits"] for n, f in waiting.items() if "nanosleep" in n)
print(f"FIGURE scope {sys.argv[1]}: {times} sleeps, {sleep / 1e6:.1f} ms of waiting in them")
if times < 90 or sleep < times * 1e6 or sleep > 60e9:
    sys.exit(f"expected 100 sleeps of a millisecond or more: {waiting}")
' $scope || bad=1
done
# a hardware event's period does not stay the same for long
"$B/tailor" run -q --scope thread --stack 0 -o "$dir/t.tlr" -- "$dir/host" >/dev/null 2>"$dir/err" || { cat "$dir/err"; exit 1; }
"$B/tailor" dump --json --samples "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
weights, event, total = set(), None, 0
for line in sys.stdin:
    r = json.loads(line)
    if "sample" in r:
        weights.add(r["weight"])
        total += 1
    elif r["record"] == "EVENT":
        event = r["fields"]
if event["unit"] == "ns":
    sys.exit("only a clock here, whose period stays")
print("FIGURE", event["name"] + f": {len(weights)} different periods, {min(weights)} to {max(weights)}, of {total} samples")
p = event["period"]
if total > 2000 and len(weights) < 5 or min(weights) < p - p / 15 or max(weights) > p + p / 15:
    sys.exit(f"period {p}: expected several within a sixteenth of it")
' >"$dir/out" 2>&1
case $? in
0) cat "$dir/out" ;;
*) grep -q "only a clock" "$dir/out" || { cat "$dir/out"; bad=1; } ;;
esac
exit $bad
