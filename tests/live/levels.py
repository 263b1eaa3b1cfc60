# SPDX-License-Identifier: MIT
"""What levels-of-hosts.sh asks of one host: levels.py BUILD FOLDER NAME [--inlined INNER OFTEN RARELY] COMMAND...

{seconds} in COMMAND becomes how long it is to run.  INNER is inlined into OFTEN, which does three times as much of it as RARELY.
"""
import csv
import json
import os
import re
import resource
import subprocess
import sys

sys.path.insert(0, "tests")
from evidence import decide  # noqa: E402

B, D, NAME, COMMAND = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
INLINED = COMMAND[1:4] if COMMAND[0] == "--inlined" else None
if INLINED:
    COMMAND = COMMAND[4:]
TRACE = f"{D}/{NAME}.tlr"
ENOUGH, NAMED = 400, 300  # samples in generated code, and how many of these must be in code with a name
ENOUGH_INLINED, INSIDE = 1000, 500  # ... in the two functions

V8_TIER = re.compile("^(JS:|LazyCompile:|Function:|Eval:|Script:)[*~^+-]'?")  # in the name of a code object, not of a function
OF_RUNTIME = ("anonymous", "Builtin:", "BytecodeHandler:", "Handler:", "Stub:")  # unnamed, or V8's own: their callers have their samples

# A block is a recording.  One that agrees is enough, as faults here leave no block that agrees: of 300 samples, or 500, not one
# would be below a function and a module, or in INNER; by chance OFTEN and RARELY would be as 1 to 1 (2 is 7 standard deviations
# away then; where they are as 3 to 1, 2 and 4.5 are 4.3 and 3.5 away).  Where all is right, what can contradict is a beginning in which
# code is not compiled for good yet: a recording of less processor time than COUNTS_S agrees or is none, and the next one is longer.
WRONG = 0.001
COUNTS_S = 2.5


def processor_time():
    """... of all children so far."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def tailor(*arguments):
    p = subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"{NAME}: tailor {' '.join(arguments)}: exit {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-1000:]}")
    return p.stdout


class Recording:
    def __init__(self, seconds):
        command = [c.replace("{seconds}", f"{seconds:g}") for c in COMMAND]
        used = processor_time()
        tailor("run", "-q", "-o", TRACE, "--", *command)
        self.counts = processor_time() - used >= COUNTS_S
        tailor("export", "--overwrite", "--format", "csv", "-o", f"{D}/csv", TRACE)
        with open(f"{D}/csv", newline="") as f:
            head, *self.rows = csv.reader(f)
        self.report = json.loads(tailor("report", "--json", TRACE))
        self.column = {h: head.index(h) for h in ("share", "mode", "image", "function", "file", "line", "method")}
        # levels stand behind the columns
        self.level = {h: head.index(h + more) for h, more in (("module", ""), ("code object", ""), ("function", " (level)"), ("line", " (level)"))}
        self.anywhere = [r for r in self.rows if r[self.column["image"]] in ("(generated)", "[unknown]")]
        self.generated = [r for r in self.anywhere
                          if r[self.column["image"]] == "(generated)" and not r[self.column["function"]].startswith(OF_RUNTIME)]
        self.lined = [r for r in self.generated if r[self.column["line"]] != "0" and r[self.column["file"]] != "unknown"]

    def check(self):
        """What must be so in every recording."""
        column, level, total = self.column, self.level, self.report["samples"]["total"]
        wrong = [r for r in self.generated
                 if r[column["method"]] != "ip" or V8_TIER.sub(r"\1", r[level["code object"]]) != r[column["function"]]]
        if wrong:
            sys.exit(f"{NAME}: expected the code object that the column of functions has, got: {wrong[0]}")
        wrong = [r for r in self.lined if r[level["line"]] != f"{os.path.basename(r[column['file']])}:{r[column['line']]}"]
        if wrong:
            sys.exit(f"{NAME}: expected the line that the column of lines has, got: {wrong[0]}")
        for one in self.report["levels"]:
            shares = sum(c["samples"] for c in self.report["components"] if c["level"] == one["name"])
            if abs(shares - one["samples"]) > 0.01 * total + 1:
                sys.exit(f"{NAME}: level {one['name']}: expected {one['samples']} samples, components add up to {shares}")
        if abs(sum(float(r[column["share"]]) for r in self.rows) - total) > 1:
            sys.exit(f"{NAME}: expected {total} samples")

    def outside(self):
        """Samples with a line that are below no function or no module."""
        return [r for r in self.lined if not r[self.level["function"]] or not r[self.level["module"]]]

    def figure(self):
        by, total = {}, self.report["samples"]["total"]
        for r in self.rows:
            by[r[self.level["function"]]] = by.get(r[self.level["function"]], 0) + float(r[self.column["share"]])
        hottest = sorted(((n, f) for f, n in by.items() if f), reverse=True)[:3]
        called = sum(r[self.column["method"]] == "stack" for r in self.rows)
        print(f"FIGURE {NAME}: {total} samples, {len(self.generated)} in generated code, {len(self.lined)} with a line, {called} by their "
              "caller; " + ", ".join(f"{f[:24]} {100 * n / total:.1f} %" for n, f in hottest))

    def inlined(self):
        """A sentence, and whether it is as it should be."""
        inner, often, rarely = INLINED
        of = {c["name"]: c for c in self.report["components"] if c["level"] == "function"}
        objects = {c["name"]: c["samples"] for c in self.report["components"] if c["level"] == "code object"}
        total, hot = objects.get(often, 0) + objects.get(rarely, 0), of.get(inner, {"samples": 0, "parents": []})
        parents = {p["name"] for p in hot["parents"] if p["level"] == "code object"} - {inner}
        ratio = objects.get(often, 0) / max(objects.get(rarely, 0), 1)
        return (f"{inner} has {hot['samples']:.0f} of {total:.0f} samples (expected: 90 % of {INSIDE} or more), it is inside of "
                f"{', '.join(sorted(parents))} "
                f"(expected: {often}, {rarely}), these are as {ratio:.2f} to 1 (expected: 3, 2 to 4.5)",
                total >= INSIDE and hot["samples"] >= 0.9 * total and parents >= {often, rarely} and 2 < ratio < 4.5)


def main():
    last, seconds = None, 0.5

    def longer(enough):
        """The next recording, or None where it has too few samples."""
        nonlocal last, seconds
        last = Recording(seconds)
        last.check()
        if not last.counts or len(last.anywhere) < enough:
            seconds *= 2
        return last if len(last.anywhere) >= enough else None

    def below(_):
        r = longer(ENOUGH)
        if not r:
            return None
        outside = r.outside()
        if len(r.generated) < NAMED or len(outside) > len(r.lined) / 100:
            print(f"{NAME}: of {len(r.anywhere)} samples in generated code {len(r.generated)} are in code that has a name (expected: {NAMED} "
                  f"or more); of {len(r.lined)} with a line {len(outside)} are below no function or no module (expected: 1 %): {outside[:1]}")
            return False if r.counts else None
        return True

    def inlined(nr):
        r = last if nr == 0 and len(last.anywhere) >= ENOUGH_INLINED else longer(ENOUGH_INLINED)
        if not r:
            return None
        sentence, agrees = r.inlined()
        print(f"FIGURE inlined in {NAME}: {sentence}")
        return agrees or (False if r.counts else None)

    bad = not decide(f"{NAME}: lines are below a function and a module", below, wrong=WRONG)
    last.figure()
    if INLINED:
        bad |= not decide(f"{NAME}: an inlined function is a component", inlined, wrong=WRONG)

    for args in ("report --view plan", "report --view timeline --level function", "report --view tree --level function",
                 "report --view threads --level function", "report --view memory --level line", "report --view components --level line",
                 f"export --overwrite --format speedscope --level function -o {D}/exported", f"export --overwrite --format pprof --level line -o {D}/exported",
                 f"diff --level function {TRACE}"):
        out = tailor(*args.split(), TRACE)
        if args.endswith(("plan", "function", "components --level line")) and not any(c.islower() for c in out):
            sys.exit(f"{NAME}: tailor {args}: expected something, got: {out!r}")
    sys.exit(bad)


main()
