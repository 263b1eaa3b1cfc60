#!/bin/bash
# SPDX-License-Identifier: MIT
# Several events at once, each with a period of its own, in both scopes: every event's samples are its own, they add up to what
# its counter says (within the period that each counter had begun, and what was lost), a fault has its address, and a thread that
# comes to a processor has left it before; periods vary.
. tests/live/begin.bash
cat >"$dir/host.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#define PAGES 2000
static double ms; /* of processor time, that each thread spends */
static void *touch(void *p)
{
	struct timespec begin, now, a_millisecond = { 0, 1000000 };
	volatile double x = 1;

	for (int i = 0; i < PAGES; i++)
		((volatile char *)p)[i * 4096] = 1;
	for (int i = 0; i < 50; i++)
		nanosleep(&a_millisecond, NULL);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 10000; i++)
			x = x * 1.0000001;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1e9 + now.tv_nsec - begin.tv_nsec < ms * 1e6);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[2];
	char *p = mmap(NULL, 2 * PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ms = argc > 1 ? atof(argv[1]) : 150;
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
# switches happen in the kernel, which not everybody may sample
user_only=0
[ "$(plain_event)" = task-clock ] || user_only=1
judge /usr/bin/python3 - "$B/tailor" "$dir" $user_only "$(allowed_rate 4000)" <<'PYTHON'
import collections, json, subprocess, sys
sys.path.insert(0, "tests")
from evidence import decide
tailor, directory, user_only, rate = sys.argv[1], sys.argv[2], sys.argv[3] == "1", int(sys.argv[4])
PAGES, SLEEPS = 4000, 100  # of the host's two threads together
# half as often as the kernel allows: it stops a clock for a tick that rings too often in the tick before
period = max(500003, 2 * 10**9 // rate)
events = f"task-clock:u@{period},page-faults:u@1" if user_only else f"task-clock@{period},page-faults@1,context-switches"
NAMES = ["task-clock:u", "page-faults:u"] if user_only else ["task-clock", "page-faults", "context-switches", "switch"]

def output(command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: expected exit 0, got {p.returncode}: {p.stderr}")
    return p.stdout

def record(scope, *options, ms=150):
    out = output([tailor, "run", "-q", "--scope", scope, "--stack", "0", "-o", f"{directory}/t.tlr", *options,
                  "--", f"{directory}/host", str(ms)])
    return [int(x, 16) for x in out.split()]

def dump():
    for line in output([tailor, "dump", "--json", "--samples", f"{directory}/t.tlr"]).splitlines():
        yield json.loads(line)

# A block is a recording.  What must be so in each is exact; the rest is what a busy machine can spoil now and then, and this is returned.
def block(scope, nr):
    low, high = record(scope, "-e", events)
    known, counts, samples, lost, late = {}, {}, collections.defaultdict(list), 0, 0
    for r in dump():
        f = r.get("fields", {})
        if "sample" in r:
            samples[r["event"]].append(r)
        elif r.get("record") == "EVENT":
            known[f["event"]] = f
        elif r.get("record") == "LOSS" and f["reason"] == "ring full":
            lost += f["count"]
        elif r.get("record") == "LOSS" and f["reason"] == "threads counted late":
            late += f["count"]
        elif r.get("record") == "COUNT":
            c = counts.setdefault(f["event"], collections.Counter())
            c.update(value=f["value"], samples=f["samples"], lost=f["lost"], counters=1)
    figure = (lambda text: print(f"FIGURE scope {scope}: {text}")) if nr == 0 else lambda text: None
    names = [known[i]["name"] for i in sorted(known)]
    if [n for n in names if n != "woken"] != NAMES: # that one is where tracepoints are permitted
        sys.exit(f"scope {scope}: expected events {NAMES}, got {names}")
    if not set(range(len(events.split(",")))) <= set(counts):
        sys.exit(f"scope {scope}: expected a count of each of {events}, got {counts}")
    if late:  # the recorder did not get to run while a thread waited for it, and the trace says so: what the thread did is not all there
        return None
    agrees = True
    for i, c in sorted(counts.items()):
        name, period, had = known[i]["name"], known[i]["period"], samples[i]
        weight = sum(x["weight"] for x in had)
        text = f"{name}: counted {c['value']} {known[i]['unit']}, {c['samples']} samples of {weight}, {c['lost']} lost"
        figure(text)
        if c["samples"] != len(had):
            sys.exit(f"scope {scope}, {text}: {len(had)} are in the trace")
        missing = c["value"] - weight
        if period == 1:
            # kernels before 6.0 do not say how many of the samples that were lost are this event's
            if not (missing == c["lost"] or c["lost"] == 0 and 0 <= missing <= lost):
                sys.exit(f"scope {scope}, {text}: expected that nothing else is missing, but {missing} are")
            continue
        # counters stop within a period
        if missing < -(c["counters"] + 1) * period:
            sys.exit(f"scope {scope}, {text}: more than was counted")
        # The timer of a clock comes late where a hypervisor has taken the processor, and what it is late is nobody's: 1 % on an idle
        # machine.  If every second sample is lost unsaid, half is missing.
        if missing - c["lost"] * period > 0.4 * c["value"]:
            print(f"scope {scope}, {text}: {missing} are missing")
            agrees = False
    # each page is touched once; the kernel may take it away and have it touched again
    pages = {x["address"] // 4096 for x in samples[1] if low <= x["address"] < high}
    figure(f"{len(pages)} of {PAGES} pages that were touched have faults, lost {lost}")
    if len(pages) + lost < PAGES:
        sys.exit(f"scope {scope}: expected faults of the {PAGES} pages between {low:x} and {high:x}, got {len(pages)}, lost {lost}")
    if user_only:
        return agrees
    # Of one thread: gone, come, gone, come.  A going and the coming after it on another processor may be in another order where these
    # processors' clocks differ, which is rare; if comings are told from goings wrongly, most are out of turn.
    by_thread = collections.defaultdict(list)
    for x in sorted(samples[3], key=lambda x: x["time_ns"]):
        by_thread[x["tid"]].append(x["weight"] == 0)
    turns = sum(a != b for t in by_thread.values() for a, b in zip(t, t[1:]))
    same = sum(a == b for t in by_thread.values() for a, b in zip(t, t[1:]))
    figure(f"{len(samples[3])} comings and goings of {len(by_thread)} threads, {same} out of turn")
    if turns < 100 or same > turns / 100 + lost:
        print(f"scope {scope}: {turns} comings and goings in turn, {same} not, lost {lost}")
        agrees = False
    # Threads sleep 100 times for a millisecond (and 0.05 ms more): less is seen of a sleep only where the thread was taken off its
    # processor between setting the timer and sleeping.
    view = json.loads(output([tailor, "report", "--view", "offcpu", "--json", f"{directory}/t.tlr"]))["tables"]["function"]
    # Since glibc 2.41 sleeps end in a function of libc that it does not export, and without stacks nothing says what that waits for.
    waiting = ([f for f in view if f["waits_for"].startswith("sleep")] or
               [f for f in view if f["name"].startswith("libc.so.6") and not f["idle"]])
    sleep, times = sum(f["waiting_ns"] for f in waiting), sum(f["waits"] for f in waiting)
    figure(f"{times} sleeps, {sleep / 1e6:.1f} ms of waiting in them")
    span = max(x["time_ns"] for x in samples[3]) - min(x["time_ns"] for x in samples[3])
    if sleep > 2 * span:
        sys.exit(f"scope {scope}: two threads wait for {sleep} ns in {span} ns: {view}")
    if times < 0.9 * SLEEPS or sleep < 0.9 * SLEEPS * 1e6:
        print(f"scope {scope}: {times} sleeps of {sleep} ns together: {view}")
        agrees = False
    return agrees

# A period does not stay the same for long: it changes each time that the recorder has taken 20 samples or more out of a
# thread's ring, and it does so many times in a block of 2000.  If periods do not vary there is one.
ms = 300
def vary(nr):
    global ms
    record("thread", ms=ms)
    event, weights = None, collections.Counter()
    for r in dump():
        if "sample" in r:
            weights[r["weight"]] += 1
        elif r["record"] == "EVENT":
            event = event or r["fields"]
    total, p = sum(weights.values()), event["period"]
    if nr == 0:
        print(f"FIGURE {event['name']}: {len(weights)} different periods, {min(weights)} to {max(weights)}, of {total} samples")
    if weights and (min(weights) < p - p / 15 or max(weights) > p + p / 15):
        sys.exit(f"{event['name']}: expected periods within a sixteenth of {p}, got {min(weights)} to {max(weights)}")
    if total <= 2000:
        ms *= 2
        return None
    return len(weights) >= 5

bad = False
for scope in ("cpu", "thread"):
    bad |= not decide(f"scope {scope}: samples add up to what the counters say; threads come and go in turn, and sleep as long as they do",
                      lambda nr: block(scope, nr))
bad |= not decide("periods vary", vary)
sys.exit(bad)
PYTHON
# Page faults without a period of their own: children that have 200 each get their part of a tree's, beside a parent that has 20,000.
cat >"$dir/family.c" <<'C'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static void touch(long pages)
{
	char *p = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, pages * 4096, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		((volatile char *)p)[i * 4096] = 1;
	munmap(p, pages * 4096);
}
int main(void)
{
	struct rusage own, theirs;

	for (int i = 0; i < 20; i++) {
		touch(1000);
		if (fork() == 0) {
			touch(150);
			_exit(0);
		}
		wait(NULL);
	}
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &theirs);
	printf("%d %ld %ld\n", (int)getpid(), own.ru_minflt, theirs.ru_minflt);
	return 0;
}
C
gcc -O1 -o "$dir/family" "$dir/family.c" || exit 1
faults=page-faults
[ $user_only = 0 ] || faults=page-faults:u
"$B/tailor" run -q -e $faults -o "$dir/family.tlr" -- "$dir/family" >"$dir/family.said" || fail "tailor run -e $faults: exit $?"
judge /usr/bin/python3 - "$dir/family.said" <(exec "$B/tailor" report --samples "$dir/family.tlr") <<'PYTHON'
import sys
pid, own, theirs = map(int, open(sys.argv[1]).read().split())
head, *rows = (line.rstrip("\n").split("\t") for line in open(sys.argv[2]))
weights = [(int(s["pid"]), int(s["weight"])) for s in (dict(zip(head, r)) for r in rows)]
share, truth = sum(w for p, w in weights if p != pid) / sum(w for _, w in weights), theirs / (own + theirs)
text = f"{100 * share:.1f} % of the page faults are the children's, {100 * truth:.1f} % by getrusage, of {len(weights)} samples"
print(f"FIGURE {text}" if abs(share - truth) < truth / 5 else f"expected as many within a fifth: {text}")
sys.exit(abs(share - truth) >= truth / 5)
PYTHON
[ $user_only = 0 ] || undecided "switches happen in the kernel, which this user may not sample"
finish
