#!/bin/bash
# SPDX-License-Identifier: MIT
# Iterations of a query are told apart by time alone (A. Beischl et al., EuroSys 2021, section 4.2.6): what `timeline` finds in the
# samples of pagerank's operators agrees with the MARKs that the engine sets around its iterations, which finding them does not use.
# Long: until twenty iterations are decided.
. tests/live/begin.bash
judge /usr/bin/python3 - "$B" "$dir/t.tlr" <<'END'
import csv, io, json, statistics, subprocess, sys
sys.path.insert(0, "tests")
from evidence import decide

B, TRACE = sys.argv[1:]
ITERATIONS = 20  # of each run
SAMPLES = 50 * ITERATIONS  # of a run: several fall into each of ten bins of an iteration
SCALE_MAX = 2
# Iterations have to be as long as each other.  Where that is allowed, the engine does not wait for other programs, nor the recorder for it.
before_others = subprocess.run(["chrt", "-f", "2", "true"], capture_output=True).returncode == 0
first, second = (["chrt", "-f", "2"], ["chrt", "-f", "1"]) if before_others else ([], [])

def call(*command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: expected exit 0, got {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-1000:]}")
    return p.stdout

class Run:
    """An execution of the query: its number, when it began and ended, [(begin, end)] of its iterations, times of its samples."""
    def __init__(self, number):
        self.number, self.marks, self.times = number, [], []

    def samples(self):
        return len(self.times)

    def is_even(self):
        """Whether its iterations are as long as each other, by their marks, and little of its time is without samples."""
        lengths = [end - begin for begin, end in self.marks]
        edges = [self.begin, *self.times, self.end]
        gaps = [b - a for a, b in zip(edges, edges[1:])]
        away = sum(g for g in gaps if g > 10 * statistics.median(gaps))
        return statistics.pstdev(lengths) < 0.1 * statistics.mean(lengths) and away < 0.03 * (self.end - self.begin)

    def between(self):
        return (self.marks[-1][0] - self.marks[0][0]) / (len(self.marks) - 1)

def record(scale, seconds):
    call(*first, f"{B}/tailor", "run", "-q", "-o", TRACE, "--", *second, f"{B}/engine", "--query", "pagerank", "--scale", str(scale),
         "--threads", "1", "--seconds", str(seconds), "--check")
    runs, begins = {}, {}
    for r in map(json.loads, call(f"{B}/tailor", "dump", "--json", TRACE).splitlines()):
        f = r.get("fields", {})
        if r["record"] != "MARK" or f["name"] not in ("iteration", "run"):
            continue
        key = f["name"], f["parent_instance"], f["instance"]
        if f["action"] == 1:
            begins[key] = r["time_ns"]
        elif f["name"] == "run":
            run = runs.setdefault(f["instance"], Run(f["instance"]))
            run.begin, run.end = begins[key], r["time_ns"]
        else:
            runs.setdefault(f["parent_instance"], Run(f["parent_instance"])).marks.append((begins[key], r["time_ns"]))
    if not runs or {len(run.marks) for run in runs.values()} != {ITERATIONS}:
        sys.exit(f"expected marks of {ITERATIONS} iterations in each run, got {[len(run.marks) for run in runs.values()]}")
    ordered, nr = sorted(runs.values(), key=lambda run: run.begin), 0
    for t in sorted(int(r["time_ns"]) for r in csv.DictReader(io.StringIO(call(f"{B}/tailor", "export", "--format", "csv", TRACE)))):
        while nr + 1 < len(ordered) and t > ordered[nr].end:
            nr += 1
        if ordered[nr].begin < t < ordered[nr].end:
            ordered[nr].times.append(t)
    return ordered

scale, seconds, waiting = 0.25, 1, []

# A block is a run that nothing disturbed, with enough samples.  Its iterations differ by less than 10 %, so that their period is found in
# all but a few of 100.  Where periods are found of something else (a multiple, the sampling, chance) or not at all, no run agrees, or
# few do.
def agrees(nr):
    global scale, seconds, waiting
    if not waiting:
        runs = record(scale, seconds)
        waiting = [run for run in runs if run.is_even()]
        if waiting and statistics.median(run.samples() for run in waiting) < SAMPLES:
            scale = min(2 * scale, SCALE_MAX)  # longer iterations have more
        waiting = [run for run in waiting if run.samples() >= SAMPLES]
        seconds = min(2 * seconds, 4)
        if not waiting:
            return None
    run = waiting.pop(0)
    timeline = call(f"{B}/tailor", "report", "--view", "timeline", "--mark", f"run#{run.number}", "--json", TRACE)
    periods = json.loads(timeline)["tables"]["periods"]
    print(f"FIGURE {ITERATIONS} iterations marked, one each {run.between() / 1e6:.2f} ms; found: " +
          ", ".join(f"{p['name']} {p['times']} each {p['period_ns'] / 1e6:.2f} ms" for p in periods))
    joins = [p for p in periods if p["name"] in ("hash join", "group by") and abs(p["times"] - ITERATIONS) <= 2]
    return {p["name"] for p in joins} == {"hash join", "group by"} and all(abs(p["period_ns"] / run.between() - 1) <= 0.15 for p in periods)

sys.exit(not decide(f"the hash join and the group by come back {ITERATIONS} times, give or take two, and all periods that are found are "
                    "within 15 % of an iteration's", agrees, enough_s=120))
END
finish
