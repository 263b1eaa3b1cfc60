#!/bin/bash
# SPDX-License-Identifier: MIT
# Dates are what a trace or a store says: before 1970, far ahead, at the ends of what a number holds, an end before its begin.  Nothing that
# reads them hangs, fails or shows a negative time, and a store that has one takes others.  The same holds for a share that is no share.
# Where the machine's clock is set by an hour, and back, while a recorder runs, all samples are in the store, in epochs of their length.
. tests/live/begin.bash
cat >"$dir/step.c" <<'END'
/* CLOCK_REALTIME is ahead by the seconds that $STEP_FILE says. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
	const char *path = getenv("STEP_FILE");
	FILE *f = id == CLOCK_REALTIME && path ? fopen(path, "re") : NULL;
	int ret = (int)syscall(SYS_clock_gettime, id, t);
	long s;

	if (f && fscanf(f, "%ld", &s) == 1)
		t->tv_sec += s;
	if (f)
		fclose(f);
	return ret;
}
END
${CC:-cc} -shared -fPIC -o "$dir/step.so" "$dir/step.c" || exit 1
cat >"$dir/test.py" <<'END'
import glob, json, os, re, shutil, signal, sqlite3, subprocess, sys, time
sys.path.insert(0, "tests")
from store_caps import header, write_trace
from trace_file import END as END_CHUNK, RECORDS, Trace, record
B, DIR = sys.argv[1:]
HANGS_S, PATIENCE_S = 120, 300
YEAR = 365 * 86400 * 10**9
DATES = {"1677": -2**63, "1901": -69 * YEAR + 7, "1969": -3600 * 10**9 - 1, "the last nanosecond of 1969": -1, "1970": 0,
         "2106": (2**32 - 1) * 10**9, "2262": 2**63 - 1}
bad = 0

def fail(sentence):
    global bad
    bad = 1
    print(sentence)

def expect(what, *command, exits=(0,)):
    try:
        r = subprocess.run([f"{B}/tailor", *command], capture_output=True, text=True, timeout=HANGS_S)
    except subprocess.TimeoutExpired:
        return fail(f"{what}: expected an end of tailor {' '.join(command)}, got none in {HANGS_S} s") or ""
    if r.returncode not in exits or "runtime error" in r.stderr:
        fail(f"{what}: tailor {' '.join(command)}: expected exit status {exits}, got {r.returncode}: {r.stderr}")
    if re.search(r"-\d+(\.\d+)? n?u?m?s\b|-\d+ s recorded", r.stdout):
        fail(f"{what}: tailor {' '.join(command)}: expected no negative time, got {r.stdout}")
    return r.stdout

def ask_store(what, store):
    for command in (["gc", "--dry-run"], ["gc"], ["report"], ["report", "--view", "epochs"], ["report", "--view", "reasons"],
                    ["report", "--json"],
                    ["timeline"], ["changes"], ["stat"], ["export", "--overwrite", "-f", "pprof", "-o", f"{DIR}/o.pb.gz"],
                    ["export", "--overwrite", "-f", "otlp", "-o", f"{DIR}/o.otlp"], ["check"]):
        expect(what, "db", command[0], store, *command[1:], exits=(0, 3) if command[0] in ("check", "changes") else (0,))
    expect(what, "db", "diff", store, store)

good = f"{DIR}/good.tlr"
write_trace(good, time.time_ns(), epoch=2)

# Of a trace.
for date, ns in DATES.items():
    trace, store = f"{DIR}/t.tlr", f"{DIR}/{ns}.tlrs"
    write_trace(trace, ns % 2**64, epoch=1)
    for command in (["report"], ["html", "-o", f"{DIR}/t.html"], ["dump"], ["check"],
                    *(["export", "--overwrite", "-f", f, "-o", f"{DIR}/o"] for f in
                      ("pprof", "otlp", "firefox", "perfetto", "speedscope"))):
        expect(f"a trace of {date}", command[0], *command[1:], trace, exits=(0, 3) if command[0] == "check" else (0,))
    expect(f"a trace of {date}", "db", "add", store, trace)
    expect(f"a store with {date}", "db", "add", store, good)
    ask_store(f"a store with {date}", store)
    page = json.loads(expect(date, "db", "report", store, "--view", "epochs", "--json") or "{}")
    if page.get("epochs") != 2 or page.get("samples") != 100:
        fail(f"a store with {date}: expected both epochs with 100 samples, got {page}")
    lengths = [e["duration_ns"] for e in page.get("tables", {}).get("epochs", [])]
    if any(not 400000 < n < 600000 for n in lengths):
        fail(f"a store with {date}: expected epochs of 490 us, got {lengths}")
t = Trace()
t.add(RECORDS, record("PROCESS", 1000, 1, "/usr/bin/host", "host", time_ns=10**12))
t.add(END_CHUNK, record("END", 0, 0, 0, 0, 0, time_ns=1))
open(f"{DIR}/t.tlr", "wb").write(b"".join(t.parts))
for command in (["report"], ["html", "-o", f"{DIR}/t.html"], ["export", "--overwrite", "-f", "perfetto", "-o", f"{DIR}/o"],
                ["db", "add", f"{DIR}/end.tlrs"]):
    expect("a trace that ends before it begins", *command, f"{DIR}/t.tlr")

# Old traces come late, one at a time, and of two machines: an hour takes them in.
for i in range(3):
    write_trace(f"{DIR}/t.tlr", 10**18 + i * 10**9, epoch=i + 1)
    expect("an old trace", "db", "add", f"{DIR}/late.tlrs", f"{DIR}/t.tlr")
page = json.loads(expect("old traces", "db", "report", f"{DIR}/late.tlrs", "--view", "epochs", "--json") or "{}")
if [(e["parts"], e["samples"]) for e in page.get("tables", {}).get("epochs", [])] != [(3, 150)]:
    fail(f"expected three old traces of an hour to be one epoch of three parts, got {page}")

# Of a store.
expect("a store", "db", "add", f"{DIR}/s.tlrs", good)
for begin, end in [(a, b) for a in DATES.values() for b in (*DATES.values(), None)]:
    store = f"{DIR}/planted.tlrs"
    shutil.copyfile(f"{DIR}/s.tlrs", store)
    db = sqlite3.connect(store)
    db.execute("UPDATE epoch SET begin_ns = ?, end_ns = ?", (begin, begin - 1 if end is None and begin > -2**63 else end or begin))
    db.commit()
    db.close()
    what = f"an epoch from {begin} to {end}"
    for command in (["add", store, good], ["gc", store], ["report", store], ["report", store, "--view", "epochs"], ["timeline", store],
                    ["export", "--overwrite", store, "-f", "otlp", "-o", f"{DIR}/o"]):
        expect(what, "db", *command)
ask_store("the last of these", store)
db = sqlite3.connect(store)
for share in (1e308, -1e308, float("inf"), 1e19):
    db.execute("INSERT OR REPLACE INTO reason SELECT (SELECT max(id) FROM epoch), (SELECT min(id) FROM event), (SELECT max(id) FROM text), "
               "?, ?", (share, share))
    db.commit()
    expect(f"a share of {share}", "db", "report", store, "--view", "reasons")
    expect(f"a share of {share}", "db", "report", store, "--view", "reasons", "--json")
db.close()

# The clock, an hour ahead and back.
step, store = f"{DIR}/step", f"{DIR}/w.tlrs"
host = [f"{B}/engine", "--query", "q3", "--scale", "0.02", "--threads", "1", "--repeat", "10000000"]
def set_clock(seconds):
    with open(f"{step}.new", "w") as f:
        f.write(str(seconds))
    os.rename(f"{step}.new", step)

def traces():
    return sorted(glob.glob(f"{store}.epochs/*.tlr"))

def wait_for(condition):
    begin = time.monotonic()
    while not (found := condition()) and time.monotonic() - begin < PATIENCE_S:
        time.sleep(0.02)
    return found

def samples_of(trace):
    r = subprocess.run([f"{B}/tailor", "report", "--json", "--mark", "all", trace], capture_output=True, text=True)
    return json.loads(r.stdout)["samples"]["total"] if r.stdout else 0

set_clock(0)
with open(f"{DIR}/said", "w") as said:
    run = subprocess.Popen([f"{B}/tailor", "watch", "--store", store, "--keep", "1000", "--cost", "20%", "--epochs", "600s", "--", *host],
                           stdout=subprocess.DEVNULL, stderr=said, env={**os.environ, "LD_PRELOAD": f"{DIR}/step.so", "STEP_FILE": step})
for number, seconds in enumerate([3600, 0]):
    wait_for(lambda: len(traces()) > number and b"SAMPLES" in subprocess.run([f"{B}/tailor", "dump", "--json", traces()[-1]],
                                                                             capture_output=True).stdout)
    set_clock(seconds)
    wait_for(lambda: len(traces()) > number + 1)
run.send_signal(signal.SIGTERM)
run.wait()
for sentence in "clock went 3600 s ahead", "clock went 3600 s back":
    if sentence not in open(f"{DIR}/said").read():
        fail(f"expected '{sentence}' to be said, got {open(f'{DIR}/said').read()}")
expect("steps of the clock", "db", "add", store, *traces())
page = json.loads(expect("steps of the clock", "db", "report", store, "--view", "epochs", "--json") or "{}")
stored, samples = page.get("tables", {}).get("epochs", []), [samples_of(t) for t in traces()]
if sorted(e["samples"] for e in stored if e["samples"]) != sorted(n for n in samples if n) or len(stored) < 2:
    fail(f"expected epochs of {samples} samples, got {stored}")
if any(not 0 <= e["duration_ns"] < 2 * PATIENCE_S * 10**9 for e in stored):
    fail(f"expected epochs without the clock's hour, got {stored}")
ask_store("steps of the clock", store)
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
