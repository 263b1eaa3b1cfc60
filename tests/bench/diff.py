#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What `tailor diff` finds, and what it names though nothing changed: diff.py BUILD [PAIRS [PLANTED]]

Pairs (100) of recordings of one program, the engine's calibrate, are compared: a pair where any line is listed is a false alarm.  Then the
first of each of the first pairs (30) is compared with a recording in which one operator does 5, 10 or 20 % more work: found is a
change of that operator; "others" are reports that list another one.  Three a side: the recordings of three rounds together.  Each pair is
of recordings of its own, and a pair's two recordings follow each other.  Nothing here fails a check.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

B = os.path.abspath(sys.argv[1])
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
PLANTED = min(PAIRS, int(sys.argv[3]) if len(sys.argv) > 3 else 30)
EXECUTIONS = 45  # of 31 ms: 14,000 samples at 10,000 a second
SHORT_S = 0.8    # the first of each recording, for what fewer samples show
CHANGES = [("work 8", 20), ("work 8", 10), ("work 8", 5), ("work 4", 20), ("work 4", 10)]


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"bench: {' '.join(command)}: exit {p.returncode}\n{p.stderr[-2000:]}")
    return p.stdout


def record(path, slow=None):
    run(f"{B}/tailor", "run", "-q", "-e", "task-clock", "-o", path, "--", f"{B}/engine", "--query", "calibrate", "--scale", "0.01", "--threads", "1",
        "--repeat", str(EXECUTIONS), *(["--slow", f"{slow[0]}={slow[1]}"] if slow else []))
    return path


class Tally:
    def __init__(self):
        self.nr = self.found = self.others = 0
        self.samples, self.margins = [], []

    def add(self, a, b, operator, *options):
        d = json.loads(run(f"{B}/tailor", "diff", "--json", "--all", "--top", "0", *options, ",".join(a), ",".join(b)))
        rows = d["tables"]["changes"]
        listed = {r["name"] for r in rows if r["significant"]}
        self.nr += 1
        self.found += operator in listed
        self.others += bool(listed - {operator})
        self.samples.append(min(int(note.split(": ")[2].split()[0]) for note in d["notes"][:2]))
        self.margins += [r["cost_margin"] for r in rows if r["name"] == (operator or "work 8") and r.get("cost_margin")]

    def line(self, what):
        margin = f"{100 * statistics.median(self.margins):.1f}" if self.margins else "-"
        return (f"{what:<34}{self.nr:6}{statistics.median(self.samples):10.0f}{margin:>8}{100 * self.found / self.nr:8.0f}"
                f"{100 * self.others / self.nr:9.0f}")


def main():
    tallies = {}

    def tally(what):
        return tallies.setdefault(what, Tally())

    with tempfile.TemporaryDirectory() as directory:
        kept = {}
        for i in range(PAIRS):
            here = {"a": record(f"{directory}/{i}.a.tlr"), "b": record(f"{directory}/{i}.b.tlr")}
            tally("nothing").add([here["a"]], [here["b"]], None)
            tally(f"nothing, first {SHORT_S} s").add([here["a"]], [here["b"]], None, "--to", str(SHORT_S))
            for slow in CHANGES if i < PLANTED else []:
                here[slow] = record(f"{directory}/{i}.slow.{slow[0]}.{slow[1]}.tlr", slow)
                what = f"{slow[0]} {slow[1]:+d} %"
                tally(what).add([here["a"]], [here[slow]], slow[0])
                if slow[1] == 20:
                    tally(f"{what}, first {SHORT_S} s").add([here["a"]], [here[slow]], slow[0], "--to", str(SHORT_S))
            for key, path in here.items():
                kept.setdefault(key, []).append(path)
            for key in [k for k in kept if len(kept[k]) == 3]:
                if key == "b":
                    tally("nothing, three a side").add(kept["a"], kept["b"], None)
                elif key != "a":
                    tally(f"{key[0]} {key[1]:+d} %, three a side").add(kept["a"], kept[key], key[0])
            if len(kept["a"]) == 3:
                for paths in kept.values():
                    for path in paths:
                        os.unlink(path)
                kept = {}
    print("`tailor diff` of one program with and without more work in one operator (work 8 has 35 %, work 4 17 %)")
    print(f"{'planted':<34}{'pairs':>6}{'samples':>10}{'+- %':>8}{'found %':>8}{'others %':>9}")
    for what in sorted(tallies, key=lambda w: ("three" in w, "first" in w, w)):
        print(tallies[what].line(what))


main()
