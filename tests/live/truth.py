# SPDX-License-Identifier: MIT
"""The truth tests: witnesses that do not need the dictionary.  truth.py BUILD symbols|stacks|nested|packed|calibrate SCOPE

symbols    --outline: the symbol at a sample names operator and task; the dictionary must say the same
stacks     in shared runtime code: the unwound caller's symbol against the tag
nested     a tag set inside of a tagged call: the runtime function that runs under it only is the witness
packed     operator and pipeline packed into one register, against what the call stack alone says of both
calibrate  operators that call one function for work of 1 : 2 : 4 : 8; shares within 5 standard errors of repeated runs
"""
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

B, WHAT, SCOPE = sys.argv[1:4]
WANTED = 20000
RUNS_MAX = 12
SYMBOL = re.compile(r"^op(\d+)_task(\d+)_")


def record(directory, arguments, seconds):
    trace = os.path.join(directory, "t.tlr")
    command = [f"{B}/tailor", "run", "-q", "--scope", SCOPE, "-o", trace, "--",
               f"{B}/engine", "--threads", "2", "--seconds", str(seconds)] + arguments
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}: {p.stderr}")
    return trace


def samples(trace):
    """One dictionary a sample."""
    p = subprocess.Popen([f"{B}/tailor", "report", "--samples", "--witness", trace], stdout=subprocess.PIPE, text=True)
    names = p.stdout.readline().rstrip("\n").split("\t")
    for line in p.stdout:
        yield dict(zip(names, line.rstrip("\n").split("\t")))
    if p.wait() != 0:
        sys.exit(f"tailor report --samples {trace}: exit {p.returncode}")


def number(component):
    """name#17 -> 17; None when there is no component."""
    return int(component.rsplit("#", 1)[1]) if "#" in component else None


def in_run(sample):
    return sample["phase"] != "0"


def symbols(s):
    """None: not compared; else (expected, got)."""
    m = SYMBOL.match(s["function"])
    if s["mode"] != "user" or not m:
        return None
    return (int(m[1]), int(m[2])), (number(s["operator"]), number(s["task"]))


def stacks(s):
    m = SYMBOL.match(s["stack_function"])
    if s["mode"] != "user" or s["method"] != "tag" or s["stack_method"] != "stack" or not m:
        return None
    return int(m[1]), number(s["operator"])


def nested(s):
    """Only grow_groups runs under the growth task's tag, and it runs under no other.  Not compared: what it calls and others
    call too, and `grow`, whose instructions lie on both sides of the tag's change."""
    if s["mode"] != "user" or s["method"] != "tag" or s["function"] in ("runtime_pages", "runtime_free_pages", "grow"):
        return None
    return s["function"] == "grow_groups", "growth#" in s["task"]


def packed(s):
    if s["mode"] != "user" or s["method"] != "tag" or s["stack_method"] != "stack":
        return None
    return ((number(s["stack_operator"]), number(s["stack_pipeline"])), (number(s["operator"]), number(s["pipeline"])))


def compare(check, queries):
    compared, mismatches, growth = 0, [], 0
    with tempfile.TemporaryDirectory() as d:
        for n in range(RUNS_MAX):
            if compared >= WANTED:
                break
            for arguments in queries:
                for s in samples(record(d, arguments, 2)):
                    pair = check(s) if in_run(s) else None
                    if not pair:
                        continue
                    compared += 1
                    growth += check is nested and pair[0]
                    if pair[0] != pair[1]:
                        mismatches.append(s | {"expected": pair[0], "got": pair[1]})
    more = f", {growth} of them in nested code" if check is nested else ""
    print(f"FIGURE {WHAT}, scope {SCOPE}: {compared} samples compared{more}, {len(mismatches)} mismatches")
    for s in mismatches[:5]:
        print(s)
    if compared < WANTED:
        sys.exit(f"expected {WANTED} samples to compare, got {compared}")
    if mismatches:
        sys.exit(f"expected 0 mismatches, got {len(mismatches)}")
    if check is nested and growth < 100:
        sys.exit(f"expected 100 samples of nested code or more, got {growth}")


def calibrate():
    units = {"work 1": 1, "work 2": 2, "work 4": 4, "work 8": 8}
    shares = {name: [] for name in units}
    total = 0
    with tempfile.TemporaryDirectory() as d:
        for _ in range(14):
            # weights: with a frequency each sample stands for another number of cycles
            seen = dict.fromkeys(units, 0)
            for s in samples(record(d, ["--query", "calibrate", "--scale", "0.02"], 1)):
                name = s["operator"].rsplit("#", 1)[0]
                if in_run(s) and s["mode"] == "user" and s["function"] == "rt_work" and name in units:
                    seen[name] += int(s["weight"])
                    total += 1
            for name in units:
                shares[name].append(seen[name] / sum(seen.values()))
    bad = []
    for name, u in units.items():
        expected, mean = u / 15, statistics.mean(shares[name])
        error = statistics.stdev(shares[name]) / math.sqrt(len(shares[name]))
        off = abs(mean - expected) / error
        print(f"FIGURE calibrate, scope {SCOPE}: {name}: {100 * mean:.3f} % of the work, {100 * expected:.3f} % expected, "
              f"{off:.1f} standard errors off")
        if off > 5:
            bad.append(name)
    print(f"FIGURE calibrate, scope {SCOPE}: {total} samples compared, {len(bad)} mismatches")
    if total < WANTED or bad:
        sys.exit(f"expected {WANTED} samples and no share further off than 5 standard errors; {total} samples, off: {bad}")


if WHAT == "symbols":
    compare(symbols, [["--outline", "--query", q, "--scale", "0.1"] for q in ("q6", "q1", "fig9")])
elif WHAT == "stacks":
    compare(stacks, [["--outline", "--query", q, "--scale", "0.2"] for q in ("fig9", "q3")])
elif WHAT == "nested":
    compare(nested, [["--query", "fig9", "--scale", "0.5"]])
elif WHAT == "packed":
    compare(packed, [["--pack", "--query", q, "--scale", "0.2"] for q in ("fig9", "q3")])
else:
    calibrate()
