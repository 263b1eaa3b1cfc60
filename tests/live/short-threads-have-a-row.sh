#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that end before their first sample: their time is a row of its own, as large as they say themselves, and not other threads';
# totals are 100 %, in the report, in JSON and in folded stacks.  With counters of processors and of
# threads, by timers, run and attached to.
. tests/live/begin.bash
[ "$(plain_event)" = task-clock ] || skip "the kernel's part of the host's time may not be sampled by this user"
cat >"$dir/test.py" <<'END'
import json, os, re, subprocess, sys, time
B, DIR = sys.argv[1:]
TRACE, ROW = f"{DIR}/t.tlr", "[threads shorter than a period]"
HOW = {"cpu": [], "user": ["-e", "task-clock:u"], "thread": ["--scope", "thread"], "timer": ["--sampler", "timer"]}
ATTEMPTS, SAMPLES_LEAST = 10, 40
HOST = [f"{B}/hosts/short_threads", "300", "1000", "200"] # 0.3 s in one thread, 0.2 s in a thousand

def tailor(*arguments):
    return subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True, check=True).stdout

def record(how, rate):
    if how == "attach":
        script = 'read go; exec "$@"'
        host = subprocess.Popen(["sh", "-c", script, "sh", *HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if os.path.exists(TRACE):
            os.unlink(TRACE)
        attach = subprocess.Popen([f"{B}/tailor", "attach", "-q", "-r", rate, "-o", TRACE, str(host.pid)], stderr=subprocess.PIPE,
                                  text=True)
        dump = [f"{B}/tailor", "dump", TRACE]
        # mappings are written once it counts
        while attach.poll() is None and " MMAP " not in subprocess.run(dump, capture_output=True, text=True).stdout:
            time.sleep(0.05)
        out = host.communicate("go\n")[0]
        attach.communicate()
        return out
    return subprocess.run([f"{B}/tailor", "run", "-q", "-r", rate, *HOW[how], "-o", TRACE, "--", *HOST], capture_output=True,
                          text=True, check=True).stdout

bad, skipped = 0, ""
for how in *HOW, "attach":
    for _ in range(ATTEMPTS): # timers ring at the kernel's tick at most, and a busy machine has few for us
        spent = [int(n) for n in record(how, "1000").split()]
        r = json.loads(tailor("report", "--json", TRACE))
        if abs(r["events"][0]["weight"] / r["events"][0]["counted"] - 1) > 0.02 and how != "user":
            print(f"{how}: expected that weights add up to {r['events'][0]['counted']}, got {r['events'][0]['weight']}")
            bad = 1
        if r["samples"]["total"] >= SAMPLES_LEAST:
            break
    else:
        skipped = f"skipped, because this machine gave less than {SAMPLES_LEAST} samples of 0.3 s in {ATTEMPTS} runs ({how})"
        continue
    clock = 100 * spent[0] / sum(spent)
    share = {f["name"]: 100 * f["share"] for f in r["functions"]}
    rows = share.get("long_work", 0), share.get("short_work", 0) + share.get(ROW, 0)
    long_part = 100 * rows[0] / sum(rows)
    print(f"FIGURE {how}: long_work {long_part:.1f} % of the threads' time (clock {clock:.1f}), {ROW} {share.get(ROW, 0):.1f} %")
    # The clock stops before a thread's end, so the short ones have more: up to a third of these 0.2 ms.  If their time is given to others,
    # the long one has 95 % or more.
    if not clock - 15 <= long_part <= clock + 5 or share.get(ROW, 0) < 10:
        print(f"{how}: expected about {clock:.1f} % in long_work, and the short threads' time in {ROW}, got {share}")
        bad = 1
    whole = sum(100 * f["share"] for f in r["functions"]) # several images have "(no symbol)"
    if abs(whole - 100) > 0.01:
        print(f"{how}: expected that functions are 100 %, got {whole}")
        bad = 1
    tailor("export", "--overwrite", "--format", "folded", "-o", f"{DIR}/folded", TRACE)
    folded = sum(int(line.rsplit(" ", 1)[1]) for line in open(f"{DIR}/folded"))
    # task-clock:u counts the kernel's time, and has no samples of it
    if how != "user" and abs(folded / r["events"][0]["counted"] - 1) > 0.02:
        print(f"{how}: expected that folded stacks add up to {r['events'][0]['counted']}, got {folded}")
        bad = 1
    for view in [], ["--view", "functions"]:
        text = " ".join(tailor("report", *view, TRACE).split())
        if not re.search(r"[0-9.]+ % of (the count|task-clock(:u)?|cpu-timer) are threads shorter than a period", text):
            print(f"{how}: expected a sentence about threads shorter than a period in {' '.join(view)}: {text[:600]}")
            bad = 1
if skipped:
    print(skipped)
sys.exit(1 if bad else 77 if skipped else 0)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
