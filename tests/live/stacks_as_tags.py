# SPDX-License-Identifier: MIT
"""Call stacks are as right as tags: stacks_as_tags.py BUILD SAMPLES

1. On the samples of one trace stacks name the operators and pipelines that tags name, for every sample to which both give
   one.  (Tasks may differ: the runtime sets a tag of its own while it lets a table grow, which no stack shows.)
2. With tags switched off, the operators have the shares that they have with tags, and at least 99.5 % of the run phase's samples are
   attributed.  That is decided over blocks of SAMPLES samples with tags and as many without.
"""
import json
import math
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests")
from evidence import allowed_rate, decide, gather  # noqa: E402

B, BLOCK = sys.argv[1], int(sys.argv[2])
BY_TAG = 2000  # samples, for the first claim: of so many, a fault that names one in 430 wrong leaves none once in a hundred times
BLOCK_FLOOR, BLOCK_S = 3000, max(30, BLOCK // 2000)  # for a slow machine: what a block needs; how long it may take once it has that
PAIRS = 3
SIGMAS = 3
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
    """Samples of each of several recordings, by operator; None: on none."""
    def __init__(self):
        self.of = []

    def add(self, trace):
        n, counts = shares(trace)
        if n:
            self.of.append(counts)

    def samples(self):
        return sum(sum(counts.values()) for counts in self.of)

    def count(self, name):
        return sum(counts.get(name, 0) for counts in self.of)


def spread(both, names):
    """How many times as much as independent samples the shares of a block's recordings vary, of one kind: 1 or more."""
    varied = expected = 0
    for kind in both:
        for name in names:
            p = kind.count(name) / kind.samples()
            for counts in kind.of:
                n = sum(counts.values())
                varied += n * (counts.get(name, 0) / n - p) ** 2
            expected += (len(kind.of) - 1) * p * (1 - p)
    return max(1, math.sqrt(varied / max(expected, 1e-9)))


def block(directory, nr):
    """
    Recordings of both kinds in turn, none longer than a second or two at first, so that what the machine does beside them is nearly the
    same for both.  The block agrees if each operator's two shares are within SIGMAS standard deviations of each other: of as many
    independent samples, or, where a kind's own recordings vary more than these (a busy machine's caches), of so much.  That is
    so with a probability of 0.98 for half a dozen operators, and with 0.9 or more where the estimate of the spread is off by a quarter.
    Where an operator's share is off by 4.3 standard deviations nine blocks in ten contradict.
    """
    kinds, begin, seconds, turn = {"register": Shares(), "none": Shares()}, time.monotonic(), 0.4, nr
    while True:
        for tag in ("register", "none") if turn % 2 else ("none", "register"):
            kinds[tag].add(record(directory, tag, seconds))
        turn += 1
        n, pairs = min(k.samples() for k in kinds.values()), min(len(k.of) for k in kinds.values())
        spent = time.monotonic() - begin
        if pairs >= PAIRS and (n >= BLOCK or n >= BLOCK_FLOOR and spent > BLOCK_S):
            break
        if spent > 4 * BLOCK_S:
            print(f"block {nr}: only {n:.0f} samples of a kind in {spent:.0f} s")
            return None
        # as long as will give the rest with the third pair
        missing = (BLOCK - n) / max(n, 1) * seconds * (turn - nr) / max(1, PAIRS - pairs)
        seconds = min(max(0.4, missing), 2 * seconds, 8)
    a, b = kinds["register"], kinds["none"]
    names = sorted({name for k in kinds.values() for counts in k.of for name in counts if name})
    wide, agrees, said = spread((a, b), names), True, []
    for name in names:
        pa, pb = a.count(name) / a.samples(), b.count(name) / b.samples()
        p = (a.count(name) + b.count(name) + 2) / (a.samples() + b.samples() + 4)  # not 0 for what has no sample
        off = (pb - pa) / (wide * math.sqrt(p * (1 - p) * (1 / a.samples() + 1 / b.samples())))
        agrees &= abs(off) <= SIGMAS
        said.append(f"{name} {100 * pa:.2f} and {100 * pb:.2f} % ({off:+.1f} deviations)")
    on = 1 - b.count(None) / b.samples()
    agrees &= on >= 0.995
    print(f"FIGURE {a.samples():.0f} samples with tags, {b.samples():.0f} without ({100 * on:.2f} % on an operator), spread {wide:.2f}: "
          f"{', '.join(said)}")
    return agrees


with tempfile.TemporaryDirectory() as d:
    agreement(d)
    sys.exit(not decide("with tags switched off, operators have the shares that they have with tags, and 99.5 % of samples are attributed",
                        lambda nr: block(d, nr)))
