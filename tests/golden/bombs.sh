#!/bin/bash
# SPDX-License-Identifier: MIT
# Small traces that would take gigabytes or minutes (bombs.py: one for each way): with 1 GiB of address space every command reads them in
# little processor time, or ends with one sentence and exit 1.  What exceeds the budget says so; --budget and TAILOR_BUDGET change it; and
# traces of recorders are read with a hundredth of it.
# Long: each bomb is made to take long.
. tests/golden/begin.bash
[ -z "${SAN:-}" ] || { echo "skipped, because sanitizers need terabytes of address space"; exit 77; }
/usr/bin/python3 - "$B/tailor" "$dir" "${LONG:-}" <<'END'
import os, re, resource, subprocess, sys
import bombs, trace_file

tailor, folder, long = sys.argv[1:]
MEMORY = 1 << 30
CPU_S = 15  # 5 s are wanted, and the slowest takes less than 3 s of a processor of 2020; others may be slow
SENTENCE = "reading it takes more (memory|work) than a file of its size should"
COMMANDS = [["report"]] + [["report", "--json"], ["report", "--view", "components", "--view", "marks", "--view", "threads"],
                           ["report", "--view", "timeline", "--view", "processes", "--view", "events", "--csv"],
                           ["report", "--view", "tree", "--view", "code", "--view", "plan"], ["export", "-f", "folded"],
                           ["export", "-f", "firefox"], ["export", "-f", "pprof"], ["export", "-f", "csv"], ["export", "-f", "perfetto"],
                           ["export", "-f", "speedscope"], ["scrub", "-o", f"{folder}/scrubbed"], ["diff", "TRACE"],
                           ["report", "--view", "ir", "--view", "asm", "--view", "lines"], ["check"],
                           ["report", "--view", "calls", "--view", "components", "--view", "functions", "--sort", "executions"]]
# What must be refused, whatever else is done with it.
REFUSED = {"texts", "samples", "scopes"}
bad, highest = 0, (0, "")


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MEMORY, MEMORY))


def run(command, path, **env):
    words = [tailor] + [path if w == "TRACE" else w for w in command] + [path]
    with open(f"{folder}/out", "wb") as out:
        p = subprocess.Popen(words, stdout=out, stderr=subprocess.PIPE, env=dict(os.environ, **env), preexec_fn=limit)
        err = p.stderr.read().decode(errors="replace")
        _, status, used = os.wait4(p.pid, 0)
    return " ".join(words), os.waitstatus_to_exitcode(status), err, used


def wrong(text):
    global bad
    bad = 1
    print(text)


for n, name in enumerate(bombs.BOMBS):
    if os.environ.get("BOMB", name) != name: # one of them, by hand
        continue
    bomb = trace_file.Trace()
    bomb.add(trace_file.RECORDS, bombs.PROCESS)
    bombs.BOMBS[name](bomb)
    path = f"{folder}/t.tlr"
    size = bomb.write(path)
    for command in COMMANDS if long else COMMANDS[:1] if name in REFUSED else [COMMANDS[n % len(COMMANDS)]]:
        words, status, err, used = run(command, path)
        cpu = used.ru_utime + used.ru_stime
        highest = max(highest, (cpu, name))
        damaged = ["diff", "TRACE"] == command and status == 1 # a sentence for each of its traces
        said = command[0] == "export" and (status, err.count("\n")) == (0, 1) # which code has no name
        if (status, err.count("\n")) not in ((0, 0), (1, 1)) and not said and not (damaged and err.count("damaged") == 2) and \
           (command, status, err) != (["check"], 3, ""):
            wrong(f"{name} ({size} bytes): {words}: expected exit 0, or 1 and one sentence, got exit {status} after {cpu:.1f} s: "
                  f"{err[:400]}")
        if name in REFUSED and command == ["report"] and not re.search(SENTENCE, err):
            wrong(f"{name} ({size} bytes): {words}: expected '{SENTENCE}', got exit {status}: {err[:400]}")
print(f"FIGURE {len(bombs.BOMBS)} bombs: at most {highest[0]:.1f} s of processor time each ({highest[1]})")

# One budget, by option and by environment; and what recorders write stays far below it.
bomb = trace_file.Trace()
bomb.add(trace_file.SAMPLES, bombs.samples(bombs.NR, bombs.PLAIN) * 100)
bomb.write(path)
for command, env, expected in ((["report"], {}, 0), (["report", "--budget", "0.1"], {}, 1), (["report"], {"TAILOR_BUDGET": "0.1"}, 1),
                               (["dump"], {"TAILOR_BUDGET": "0"}, 0), (["report", "--budget", "0"], {"TAILOR_BUDGET": "0.1"}, 0),
                               (["report"], {"TAILOR_BUDGET": "x"}, 2)):
    words, status, err, _ = run(command, path, **env)
    if status != expected or bool(re.search(SENTENCE, err)) != (expected == 1):
        wrong(f"{words} {env}: expected exit {expected}, got {status}: {err[:400]}")
for golden in [f"tests/golden/views/{t}" for t in sorted(os.listdir("tests/golden/views")) if t.endswith(".tlr")]:
    words, status, err, _ = run(["report", "--view", "tree", "--view", "asm"], golden, TAILOR_BUDGET="0.3")
    if re.search(SENTENCE, err):
        wrong(f"{words} with three tenths of the budget: expected no more than that, got: {err[:400]}")
sys.exit(bad)
END
