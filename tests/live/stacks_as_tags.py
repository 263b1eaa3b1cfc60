# SPDX-License-Identifier: MIT
"""Call stacks are as right as tags: stacks_as_tags.py BUILD SAMPLES

1. On the samples of one trace stacks name the operators and pipelines that tags name, for every sample to which both give
   one.  (Tasks may differ: the runtime sets a tag of its own while it lets a table grow, which no stack shows.)
2. With tags switched off, at least 99.5 % of the run phase's samples are attributed.  That is decided over blocks of SAMPLES samples.

How the shares of operators differ with and without tags is a figure and no verdict: these are two programs, and what setting a tag
costs an operator is in its share (with LLVM 19 `scan orders` has 0.38 % with tags and 0.15 % without).  live/truth-stacks holds the shares
without tags against planted work.
"""
import collections
import json
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests")
from evidence import allowed_rate, decide, gather  # noqa: E402

B, BLOCK = sys.argv[1], int(sys.argv[2])
BY_TAG = 2000  # samples, for the first claim: of so many, a fault that names one in 430 wrong leaves none once in a hundred times
BLOCK_FLOOR, BLOCK_S = 2000, max(30, BLOCK // 2000)  # for a slow machine: what a block needs; how long it may take once it has that
RATE = 20000


def run(command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-2000:]}")
    return p.stdout


def record(directory, tag, seconds):
    trace = f"{directory}/t.tlr"
    run([f"{B}/tailor", "run", "-q", "--rate", str(allowed_rate(RATE)), "-o", trace, "--",
         f"{B}/engine", "--query", "fig9", "--scale", "0.2", "--threads", "2", "--seconds", str(seconds), "--tag", tag])
    return trace


def shares(trace):
    """(samples in the run phase, how many of them are on each operator, and on none: None)"""
    r = json.loads(run([f"{B}/tailor", "report", "--json", trace])).get("run") or {"samples": 0}
    if not r["samples"]:
        return 0, {}
    counts = {c["name"]: c["share"] * r["samples"] for c in r["components"] if c["level"] == "operator"}
    return r["samples"], counts | {None: (1 - r["on_operator"]) * r["samples"]}


def agreement(directory):
    """Exact: no sample may be named otherwise."""
    def in_the_run_phase(seconds):
        return shares(record(directory, "register", seconds))[0]

    gather(2 * BY_TAG, in_the_run_phase)  # more than nine in ten have a tag
    for level in ("operator", "pipeline", "task"):
        r = json.loads(run([f"{B}/tailor", "diff", "--methods", "--json", "--level", level, f"{directory}/t.tlr"]))
        print(f"FIGURE {level}: {r['decided_by_tag']} samples decided by tag; both name one for {r['named_by_both']},"
              f" the same one for {r['agreeing']}")
        if level != "task" and (r["agreeing"] != r["named_by_both"] or r["decided_by_tag"] < BY_TAG):
            sys.exit(f"{level}: expected the same component for every sample that both name one for, and {BY_TAG} by tag:\n"
                     f"{json.dumps(r, indent=1)}")


class Shares:
    """Samples of several recordings, by operator; None: on none."""
    def __init__(self):
        self.counts = collections.Counter()

    def add(self, trace):
        self.counts.update(shares(trace)[1])

    def samples(self):
        return sum(self.counts.values())

    def share(self, name):
        return self.counts[name] / self.samples()


def block(directory, nr):
    """
    Recordings of both kinds in turn, which start short and double, so that what the machine does beside them is nearly the same for both.
    The block agrees if 99.5 % of the samples without tags are on an operator.  All but one in a thousand are where nothing is wrong, so of
    2,000 samples more than ten are on none once in ten thousand blocks.
    """
    kinds, begin, seconds = {"register": Shares(), "none": Shares()}, time.monotonic(), 0.4
    while True:
        for tag in kinds if nr % 2 else reversed(kinds):
            kinds[tag].add(record(directory, tag, seconds))
        n, spent = min(k.samples() for k in kinds.values()), time.monotonic() - begin
        if n >= BLOCK or n >= BLOCK_FLOOR and spent > BLOCK_S:
            break
        if spent > 4 * BLOCK_S:
            print(f"block {nr}: only {n:.0f} samples of a kind in {spent:.0f} s")
            return None
        seconds = min(2 * seconds, 8)
    tags, none = kinds["register"], kinds["none"]
    names = sorted({name for k in kinds.values() for name in k.counts if name})
    print(f"FIGURE {tags.samples():.0f} samples with tags, {none.samples():.0f} without ({100 * (1 - none.share(None)):.2f} % on an operator); "
          f"shares with and without: {', '.join(f'{n} {100 * tags.share(n):.2f} and {100 * none.share(n):.2f} %' for n in names)}")
    return none.share(None) <= 0.005


with tempfile.TemporaryDirectory() as d:
    agreement(d)
    sys.exit(not decide("with tags switched off, 99.5 % of samples are attributed", lambda nr: block(d, nr)))
