# SPDX-License-Identifier: MIT
"""Call stacks are as right as tags: stacks_as_tags.py BUILD RUNS SECONDS

1. On the samples of one trace stacks name the operators and pipelines that tags name, for every sample to which both give
   one.  (Tasks may differ: the runtime sets a tag of its own while it lets a table grow, which no stack shows.)
2. With tags switched off, the operators have the shares that they have with tags, within 5 standard errors of repeated runs,
   and at least 99.5 % of the run phase's samples are attributed.
"""
import json
import math
import statistics
import subprocess
import sys
import tempfile

B, RUNS, SECONDS = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def run(command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-2000:]}")
    return p.stdout


def record(trace, tag, seconds):
    run([f"{B}/tailor", "run", "-q", "-o", trace, "--", f"{B}/engine", "--query", "fig9", "--scale", "0.2", "--threads", "2",
         "--seconds", seconds, "--tag", tag])


def agreement(trace):
    for level in ("operator", "pipeline", "task"):
        r = json.loads(run([f"{B}/tailor", "diff", "--methods", "--json", "--level", level, trace]))
        print(f"FIGURE {level}: {r['decided_by_tag']} samples decided by tag; both name one for {r['named_by_both']},"
              f" the same one for {r['agreeing']}")
        if level != "task" and (r["agreeing"] != r["named_by_both"] or r["decided_by_tag"] < 2000):
            sys.exit(f"{level}: expected the same component for every sample that both name one for, and 2000 by tag:\n"
                     f"{json.dumps(r, indent=1)}")


def shares(trace):
    r = json.loads(run([f"{B}/tailor", "report", "--json", trace]))["run"]
    return {c["name"]: c["share"] for c in r["components"] if c["level"] == "operator"}, r["samples"], r["on_operator"]


def mean_and_error(values, samples):
    """The error of repeated runs, and not less than that of so many independent samples."""
    p = statistics.mean(values)
    return p, math.sqrt(statistics.variance(values) / len(values) + p * (1 - p) / samples)


def main():
    with tempfile.TemporaryDirectory() as d:
        trace = f"{d}/t.tlr"
        seen = {"register": [], "none": []}
        samples = {"register": 0, "none": 0}
        attributed = {"register": 0.0, "none": 0.0}
        for n in range(RUNS):
            for tag in ("register", "none") if n % 2 else ("none", "register"):
                record(trace, tag, SECONDS)
                s, nr, on = shares(trace)
                seen[tag].append(s)
                samples[tag] += nr
                attributed[tag] += on * nr
                if tag == "register" and n == 0:
                    agreement(trace)
        for tag in seen:
            print(f"FIGURE --tag {tag}: {RUNS} runs, {samples[tag]} samples in the run phase,"
                  f" {100 * attributed[tag] / samples[tag]:.2f} % on an operator")
        bad = attributed["none"] / samples["none"] < 0.995
        for name in sorted(set().union(*seen["register"], *seen["none"])):
            a, ea = mean_and_error([s.get(name, 0) for s in seen["register"]], samples["register"])
            b, eb = mean_and_error([s.get(name, 0) for s in seen["none"]], samples["none"])
            errors = abs(a - b) / max(math.hypot(ea, eb), 1e-9)
            print(f"FIGURE {name}: {100 * a:.2f} % by tag, {100 * b:.2f} % without tags, {errors:.1f} standard errors apart")
            bad = bad or errors > 5
        if bad:
            sys.exit("expected at most 5 standard errors, and 99.5 % attributed without tags")


main()
