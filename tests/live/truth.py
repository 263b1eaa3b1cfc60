# SPDX-License-Identifier: MIT
"""The truth tests: witnesses that do not need the dictionary.  truth.py BUILD symbols|stacks|nested|packed|calibrate SCOPE

symbols    --outline: the symbol at a sample names operator and task; the dictionary must say the same
stacks     in shared runtime code: the unwound caller's symbol against the tag
nested     a tag set inside of a tagged call: the runtime function that runs under it only is the witness
packed     operator and pipeline packed into one register, against what the call stack alone says of both
calibrate  operators that call one function for work of 1 : 2 : 4 : 8, and have these shares of the weight

The first four know no tolerance: every sample that both name must be named alike.  They compare WANTED samples, where the machine gives
them in REASONABLE_S; of so many, a fault that gives one sample in 4,300 a wrong name leaves none with a probability of 1 in 100 only.  A
slow machine does with FLOOR: one in 540.  (Faults in tags and dictionaries make whole instructions wrong, which is more than that.)
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests")
from evidence import allowed_rate, decide, gather  # noqa: E402

B, WHAT, SCOPE = sys.argv[1:4]
WANTED, FLOOR = 20000, 2500
REASONABLE_S = 30
COMPARABLE = {"symbols": 0.2, "stacks": 0.1, "nested": 0.2, "packed": 0.1}  # at least, of the samples
NESTED = 1 / 240  # of those compared; ten times as many are
RATE = 20000
SYMBOL = re.compile(r"^op(\d+)_task(\d+)_")


def run(command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}: {p.stderr}")
    return p.stdout


def record(directory, arguments, seconds):
    trace = os.path.join(directory, "t.tlr")
    run([f"{B}/tailor", "run", "-q", "--rate", str(allowed_rate(RATE)), "--scope", SCOPE, "-o", trace, "--",
         f"{B}/engine", "--threads", "2", "--seconds", str(seconds)] + arguments)
    return trace


def samples(trace):
    """One dictionary a sample of the run phase, of user code."""
    p = subprocess.Popen([f"{B}/tailor", "report", "--samples", "--compare-stack", trace], stdout=subprocess.PIPE, text=True)
    names = p.stdout.readline().rstrip("\n").split("\t")
    for line in p.stdout:
        s = dict(zip(names, line.rstrip("\n").split("\t")))
        if s["phase"] != "0" and s["mode"] == "user":
            yield s
    if p.wait() != 0:
        sys.exit(f"tailor report --samples {trace}: exit {p.returncode}")


def number(component):
    """name#17 -> 17; None when there is no component."""
    return int(component.rsplit("#", 1)[1]) if "#" in component else None


def symbols(s):
    """None: not compared; else (expected, got)."""
    m = SYMBOL.match(s["function"])
    return m and ((int(m[1]), int(m[2])), (number(s["operator"]), number(s["task"])))


def stacks(s):
    m = SYMBOL.match(s["stack_function"])
    if s["method"] != "tag" or s["stack_method"] != "stack" or not m:
        return None
    return int(m[1]), number(s["operator"])


def nested(s):
    """Only grow_groups runs under the growth task's tag, and it runs under no other.  Not compared: what it calls and others
    call too, and `grow`, whose instructions lie on both sides of the tag's change."""
    if s["method"] != "tag" or s["function"] in ("runtime_pages", "runtime_free_pages", "grow"):
        return None
    return s["function"] == "grow_groups", "growth#" in s["task"]


def packed(s):
    if s["method"] != "tag" or s["stack_method"] != "stack":
        return None
    return ((number(s["stack_operator"]), number(s["stack_pipeline"])), (number(s["operator"]), number(s["pipeline"])))


def compare(check, queries):
    seen, compared, growth, mismatches, begin = 0, 0, 0, [], time.monotonic()

    def more(seconds):
        """Adds to what was compared: how much that is by now."""
        nonlocal seen, compared, growth
        for arguments in queries:
            for s in samples(record(directory, arguments, seconds / len(queries))):
                seen += 1
                pair = check(s)
                if not pair:
                    continue
                compared += 1
                growth += check is nested and pair[0]
                if pair[0] != pair[1]:
                    mismatches.append(s | {"expected": pair[0], "got": pair[1]})
        if mismatches:
            return WANTED
        if seen >= FLOOR and compared < COMPARABLE[WHAT] * seen:
            sys.exit(f"{WHAT}, scope {SCOPE}: expected that {COMPARABLE[WHAT]:.0%} of the samples have a witness, got {compared} of {seen}")
        return WANTED if compared >= FLOOR and time.monotonic() - begin > REASONABLE_S else compared

    with tempfile.TemporaryDirectory() as directory:
        gather(WANTED, more, 2)
    under = f", {growth} of them in nested code" if check is nested else ""
    print(f"FIGURE {WHAT}, scope {SCOPE}: {compared} of {seen} samples compared{under}, {len(mismatches)} mismatches")
    for s in mismatches[:5]:
        print(s)
    if mismatches:
        sys.exit(f"expected 0 mismatches, got {len(mismatches)} of {compared}")
    if check is nested and growth < NESTED * compared:
        sys.exit(f"expected {NESTED * compared:.0f} samples of nested code or more, got {growth} of {compared}")


UNITS = {"work 1": 1, "work 2": 2, "work 4": 4, "work 8": 8}
BLOCK, BLOCK_FLOOR = 50000, 7500
SIGMAS = 3


def no_clock_takes_turns(trace):
    """Threads that move from one processor to another leave nothing uncounted."""
    for e in json.loads(run([f"{B}/tailor", "report", "--json", trace]))["events"]:
        if e["unit"] == "ns" and not 0.99 <= e["running"] <= 1:
            sys.exit(f"scope {SCOPE}: expected that {e['name']} counted all the time (running 1), got {e}")


def calibrated(nr):
    """
    A block agrees if each of the four shares is within SIGMAS standard deviations of what as many independent samples have.  Such ones
    are there with a probability of 0.99, with 0.9 still where what is common to neighbours makes the deviation 1.35 times as large.
    (Little is common to them, though they come at even distances: the query's rows take a time of their own each, and their operators
    work for some 10 us where samples are 50 us apart or more.)  A share that is 4.3 standard deviations off makes nine blocks in ten
    contradict.  With BLOCK samples that is one point (of 100) of the largest share, half of one of the smallest.
    """
    weights, seen, begin, seconds = {name: [] for name in UNITS}, 0, time.monotonic(), 1
    with tempfile.TemporaryDirectory() as directory:
        while (n := sum(map(len, weights.values()))) < BLOCK:
            spent = time.monotonic() - begin
            if spent > (20 if n >= BLOCK_FLOOR else 80):
                break
            if n:  # as long as the others will take
                seconds = min(max(0.5, (BLOCK - n) / n * spent), 2 * seconds, 8)
            trace = record(directory, ["--query", "calibrate", "--scale", "0.02"], seconds)
            if nr == 0:
                no_clock_takes_turns(trace)
            for s in samples(trace):
                seen += 1
                name = s["operator"].rsplit("#", 1)[0]
                if s["function"] == "rt_work" and name in UNITS:
                    weights[name].append(int(s["weight"]))
    if seen >= BLOCK_FLOOR and n < seen / 4:
        sys.exit(f"calibrate, scope {SCOPE}: expected that a quarter of the samples are the four operators', got {n} of {seen}")
    # With a frequency each sample stands for another number of cycles: of uneven ones, so many are as good as so many even ones.
    total = sum(map(sum, weights.values()))
    even = total ** 2 / max(1, sum(w * w for of in weights.values() for w in of))
    if even < BLOCK_FLOOR:
        print(f"block {nr}: only {n} samples, as good as {even:.0f} even ones, in {time.monotonic() - begin:.0f} s")
        return None
    agrees, said = True, []
    for name, u in UNITS.items():
        share, expected = sum(weights[name]) / total, u / 15
        off = (share - expected) / math.sqrt(expected * (1 - expected) / even)
        agrees &= abs(off) <= SIGMAS
        said.append(f"{name} {100 * share:.2f} % ({100 * expected:.2f} expected, {off:+.1f} deviations)")
    print(f"FIGURE calibrate, scope {SCOPE}: {n} samples, as good as {even:.0f} even ones: {', '.join(said)}")
    return agrees


if WHAT == "symbols":
    compare(symbols, [["--outline", "--query", q, "--scale", "0.1"] for q in ("q6", "q1", "fig9")])
elif WHAT == "stacks":
    compare(stacks, [["--outline", "--query", q, "--scale", "0.2"] for q in ("fig9", "q3")])
elif WHAT == "nested":
    compare(nested, [["--query", "fig9", "--scale", "0.5"]])
elif WHAT == "packed":
    compare(packed, [["--pack", "--query", q, "--scale", "0.2"] for q in ("fig9", "q3")])
else:
    sys.exit(not decide("operators that work 1 : 2 : 4 : 8 have these shares of the weight", calibrated))
