# SPDX-License-Identifier: MIT
"""optimizations.py BUILD: the engine with and without each --optimize, compared.  What is expected comes from the text of the generated
code (which lines are alike, constant, unused), from the queries (work 1 : 2 : 4) and from machine code (which word an instruction updates),
not from what the optimizer says."""
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests")
from evidence import WRONG, decide, gather  # noqa: E402

B = sys.argv[1]
MODEL = sys.argv[2] if len(sys.argv) > 2 else None  # that all code is for, as LLVM calls it; else this machine's, and of vectors several
ROWS = 4  # that a loop takes at once
SCALES = {"fig9": "0.02", "q6": "0.5", "calibrate-inline": "0.3"}
SAMPLES = 500  # of a recording: a share of a half differs by 7 points or less from what it is in all but one of 500 recordings
failures = []
bases, first_s = {}, {}


def check(condition, what, got=""):
    if not condition:
        failures.append(f"{what}" + (f"; got {got}" if got != "" else ""))


class Run:
    """One recording: results, the dictionary as it is in the end, samples of the run phase."""

    def __init__(self, query, optimize, samples=SAMPLES, model=MODEL):
        self.name, self.trace = f"{query} --optimize {optimize}" + (f" --cpu {model}" if model else ""), f"{DIR}/t.tlr"
        gather(samples, lambda seconds: self.record(query, optimize, model, seconds), first_s.get(self.name, 0.25))
        listing = [r for r in self.json("report", "--view", "ir", "--json", self.trace)["ir"] if r["source"].endswith(".ll")]
        self.text = [r["text"] for r in listing]
        self.listed = {r["line"]: r["operator"] for r in listing}
        self.read_dictionary(self.call(f"{B}/tailor", "dump", "--json", self.trace))
        self.rows = {r["name"] + r.get("name_detail", ""): r["actual_rows"] for r in
                     self.json("report", "--view", "plan", "--json", "--top", "0", self.trace)["rows"]}
        self.assembly = self.json("report", "--view", "asm", "--json", "--top", "0", self.trace)["asm"]

    def record(self, query, optimize, model, seconds):
        first_s[self.name] = seconds
        out = self.call(f"{B}/tailor", "run", "-q", "-o", self.trace, "--", f"{B}/engine", "--query", query, "--scale", SCALES[query],
                        "--threads", "1", "--seconds", str(seconds), "--optimize", optimize, "--check", *(["--cpu", model] if model else []))
        self.checksum = re.search(r"rows, checksum (\w+)", out)[1]
        check("the naive evaluation agrees" in out, f"{self.name}: the naive evaluation agrees", out)
        self.samples = {}  # time -> [(operator, share, line, weight)]
        for r in csv.DictReader(io.StringIO(self.call(f"{B}/tailor", "export", "--format", "csv", self.trace))):
            if int(r["phase"]):
                line = int(r["line"]) if r["file"].endswith(".ll") else 0
                self.samples.setdefault(r["time_ns"], []).append((r["operator"], float(r["share"]), line, float(r["weight"])))
        return len(self.samples)

    @staticmethod
    def call(*command):
        p = subprocess.run(command, capture_output=True, text=True, check=False)
        if p.returncode:
            sys.exit(f"{' '.join(command)}: expected exit 0, got {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-1000:]}")
        return p.stdout

    def json(self, *arguments):
        return json.loads(self.call(f"{B}/tailor", *arguments))["tables"]

    def read_dictionary(self, dump):
        links, operators, names = {}, {}, {}
        for r in map(json.loads, dump.splitlines()):
            f = r.get("fields", {})
            if r["record"] == "COMPONENT" and f["level"] == 1:
                names[f["component"]] = f["name"]
            elif r["record"] == "LINK" and (f["lower_level"], f["upper_level"]) == (3, 1):
                operators[f["lower"]] = f["upper"]
            elif r["record"] == "LINK" and f["lower_level"] == 4:
                links.setdefault(f["lower"], {})[f["upper"]] = f["weight"]
            elif r["record"] == "UNLINK" and f["lower_level"] == 4:
                links[f["lower"]] = {}
        # line -> operator -> weight
        self.owners = {line: {} for line in links}
        for line, tasks in links.items():
            for task, weight in tasks.items():
                name = names[operators[task]]
                self.owners[line][name] = self.owners[line].get(name, 0) + weight

    def line(self, number):
        return self.text[number - 1].strip()

    def generated(self):
        """(number, text) of what was generated, without what was made of it."""
        end = next((n for n, text in enumerate(self.text) if text.startswith("; made of")), len(self.text))
        return [(n + 1, self.text[n].strip()) for n in range(end) if self.text[n].startswith("  ")]

    def made(self):
        return [n for n in self.owners if n <= len(self.text) and n > self.generated()[-1][0] and self.owners[n]]

    def shares(self):
        out, total = {}, 0.0
        for sample in self.samples.values():
            for operator, share, _, weight in sample:
                out[operator] = out.get(operator, 0.0) + share * weight
                total += share * weight
        return {name: weight / total for name, weight in out.items()}


def common(one, base):
    """What holds for each."""
    check(one.checksum == base.checksum, f"{one.name}: the result is that of {base.name}")
    check(one.rows == base.rows, f"{one.name}: each operator has as many rows as in {base.name}", f"{one.rows} and {base.rows}")
    orphans = {line for s in one.samples.values() for operator, _, line, _ in s if line and not operator}
    check(not orphans, f"{one.name}: no sample is at a line that nobody owns", sorted(orphans))
    for time, s in one.samples.items():
        if abs(sum(share for _, share, _, _ in s) - 1) > 1e-6:
            check(False, f"{one.name}: the shares of a sample add up to 1", f"{time}: {s}")
            break


def likely(condition, what, got):
    """What is said of one block of evidence: it may be otherwise in one of many."""
    if not condition:
        print(f"this block: expected {what}; got {got}")
    return bool(condition)


def named(one, least=0.99):
    part = 1 - one.shares().get("", 0)
    return likely(part >= least, f"{one.name}: at least {100 * least:.0f} % of the samples end on operators", f"{100 * part:.1f} %")


def gone(one, base, lines, what):
    check(lines, f"{base.name}: has lines that are {what}")
    check(all(base.owners.get(n) for n in lines), f"{base.name}: lines that are {what} have owners")
    left = [f"{n}: {one.line(n)}" for n in lines if one.owners.get(n)]
    check(not left, f"{one.name}: lines that are {what} left the dictionary", left)
    named = [n for n in lines if one.listed[n]]
    check(not named, f"{one.name}: the listing names nobody for a line that is {what}", [(n, one.listed[n]) for n in named])
    seen = {line for s in one.samples.values() for _, _, line, _ in s} & set(lines)
    check(not seen, f"{one.name}: no sample is at a line that left the dictionary", seen)


def alike(one, base, names, most):
    a, b = one.shares(), base.shares()
    return all([likely(abs(a.get(name, 0) - b.get(name, 0)) <= most, f"{one.name}: the share of {name} is within {100 * most:.0f} points of what it "
                       f"is in {base.name}", f"{100 * a.get(name, 0):.1f} % and {100 * b.get(name, 0):.1f} %") for name in names])


def in_proportion(one):
    """calibrate-inline's operators work 1 : 2 : 4, one after the other."""
    s = one.shares()
    return all([likely(abs(s.get(f"work {n}", 0) - n / 7) < 0.08, f"{one.name}: work {n} has {n} of 7 parts of the samples",
                       f"{100 * s.get(f'work {n}', 0):.1f} %") for n in (1, 2, 4)])


def proportion(one):
    return " ".join(f"{100 * one.shares().get(f'work {n}', 0):.1f}" for n in (1, 2, 4))


def base_of(query, nr):
    """What is compared with: a recording without any optimization, another one for each block."""
    while len(bases.setdefault(query, [])) <= nr:
        bases[query].append(Run(query, "none", (2 if query == "fig9" else 1) * SAMPLES))
    return bases[query][nr]


def fold(nr):
    base = base_of("calibrate-inline", nr)
    one = Run("calibrate-inline", "fold")
    common(one, base)
    constant = [n for n, text in base.generated() if re.search(r"= (add|mul|icmp \w+) i64 -?\d+, -?\d+$", text)]
    gone(one, base, constant, "constant")
    branches = [n for n, text in one.generated() if text.startswith("br i1") and not one.owners.get(n)]
    check(branches, f"{one.name}: a branch on a constant was removed")
    made = [one.owners[n] for n in one.made()]
    check(made == [{"select": 1}], f"{one.name}: the shorter branch is the select's", made)
    print(f"FIGURE fold: {len(constant)} lines removed, work 1:2:4 is {proportion(one)} %")
    return named(one) & in_proportion(base) & in_proportion(one) & alike(one, base, ("work 1", "work 2", "work 4"), 0.08)


def eliminate(nr):
    base = base_of("fig9", nr)
    one = Run("fig9", "eliminate", 2 * SAMPLES)
    common(one, base)
    unused = []
    for n, text in base.generated():
        name = re.match(r"(%\w+) = (load|getelementptr|bitcast|add|icmp)", text)
        function = next(m for m in range(n, 0, -1) if base.text[m - 1].startswith("define"))
        end = next(m for m in range(n, len(base.text)) if base.text[m - 1] == "}")
        if name and not any(re.search(re.escape(name[1]) + r"\b", base.text[m - 1]) for m in range(function, end + 1) if m != n):
            unused.append(n)
    gone(one, base, unused, "unused")
    print(f"FIGURE eliminate: {len(unused)} lines and what only they used")
    return named(one) & alike(one, base, ("group by", "hash join"), 0.12)


def cse(nr):
    base = base_of("fig9", nr)
    one = Run("fig9", "cse", 3 * SAMPLES)
    common(one, base)
    pairs, seen = [], {}
    for n, text in base.generated():
        if base.text[n - 2].startswith("define") or base.line(n - 1).startswith("entry:"):
            seen = {}
        what = re.match(r"%\w+ = (xor i64 \d{10,}, %\w+)$", text)  # where hashes begin
        if what and what[1] in seen:
            pairs.append((seen[what[1]], n))
        elif what:
            seen[what[1]] = n
    check(pairs, "fig9: join and group by hash the same key")
    gone(one, base, [b for _, b in pairs], "computed before")
    for a, b in pairs:
        want = {**base.owners[a], **base.owners[b]}
        check(len(want) == 2 and one.owners[a] == want, f"{one.name}: line {a} belongs to both in equal parts", one.owners[a])
        for k in range(1, 4):  # the rest of the hash goes with it
            check(one.owners[a + k] == want and not one.owners[b + k], f"{one.name}: so does line {a + k}", one.owners[a + k])
    shared = [s for s in one.samples.values() if any(line in range(a, a + 4) for a, _ in pairs for _, _, line, _ in s)]
    check(all(sorted(share for _, share, _, _ in s) == [0.5, 0.5] and {o for o, _, _, _ in s} == {"hash join", "group by"} for s in shared),
          f"{one.name}: each sample at the shared hash is half the join's and half the group by's", shared[:2])
    print(f"FIGURE cse: {len(shared)} samples at the shared hash")
    return named(one) & alike(one, base, ("group by", "hash join"), 0.12) & likely(shared, f"{one.name}: samples at the shared hash", "none")


def fuse(nr):
    base = base_of("q6", nr)
    one = Run("q6", "fuse")
    common(one, base)
    fused = [n for n in one.made() if re.match(r"store <2 x i64>|%\w+ = (load|add) <2 x i64>", one.line(n)) and len(one.owners[n]) == 2]
    check({one.line(n).split()[0] for n in fused} >= {"store"} and len(fused) >= 3, f"{one.name}: a load, an add and a store of two words "
          "of two operators", [one.line(n) for n in fused])
    both = {"scan lineitem": 1, "select": 1}
    mine = [n for n in fused if one.owners[n] == both]
    check(len(mine) >= 3, f"{one.name}: they belong to the scan and the select in equal parts", [one.owners[n] for n in fused])
    check(all(one.listed[n] == "scan lineitem + select" for n in mine), f"{one.name}: the listing names both", [one.listed[n] for n in mine])
    updates = [n for n, text in base.generated() if text.startswith("store") and base.owners.get(n) and list(base.owners[n])[0] in both]
    gone(one, base, [n for n in updates if not one.owners.get(n)][:2] or updates, "fused")
    samples = [s for s in one.samples.values() if any(line in mine for _, _, line, _ in s)]
    check(all(sorted((o, share) for o, share, _, _ in s) == [("scan lineitem", 0.5), ("select", 0.5)] for s in samples),
          f"{one.name}: each sample there is half the scan's and half the select's", samples[:2])
    a, b = (sum(run.shares().get(n, 0) for n in both) for run in (one, base))
    print(f"FIGURE fuse: {len(samples)} samples at fused instructions")
    return (named(one) & likely(samples, f"{one.name}: samples at fused instructions", "none") &
            likely(abs(a - b) < 0.08, f"{one.name}: the two together have what they had", f"{a} and {b}"))


def models():
    """Processors that vectors are tried for: of those that this one can do all of, and itself.  Loops and words differ from one to another."""
    flags = set(next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "").split())
    v3 = flags >= {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
    return [MODEL] if MODEL else ["x86-64", "x86-64-v3" if v3 else "x86-64", None]


def vector(nr):
    base = base_of("q6", nr)
    targets = models()
    one = Run("q6", "vector", 2 * SAMPLES, targets[nr % len(targets)])
    common(one, base)
    check(one.owners == base.owners, f"{one.name}: each line belongs to whom it did")
    whose = {"": "scan lineitem", "+0x08": "select", "+0x80": "aggregate"}  # which word of the worker's is updated
    wide = sum(r["samples"] or 0 for r in one.assembly if re.search(r"[xyz]mm\d", r["text"]))
    written = {word: 0 for word in whose}
    for r in one.assembly:
        # whatever the instruction is: its first operand is the word that it writes
        word = re.match(r"(?!cmp|test)\w+ (?:[a-z]+ ptr )?\[rdi(\+0x08|\+0x80)?\](?:,|$)", r["text"])
        if word and r["function"] == "pipeline_1":
            written[word[1] or ""] += 1
            want = whose[word[1] or ""]
            check(list(one.owners[r["line"]]) == [want], f"{one.name}: '{r['text']}' is of {want}", one.owners[r["line"]])
    check(min(written.values()) >= 2, f"{one.name}: each of three words is updated by the vector loop and by the one for the rest", written)
    seen = set(one.shares()) - {""}
    check(seen <= {*whose.values(), "output"}, f"{one.name}: the operators that are seen are those of q6", sorted(seen))
    print(f"FIGURE vector: {wide} samples at vector instructions of {one.name}")
    # so fast that handing out morsels, which is nobody's work, counts
    return (named(one, 0.98) & likely(wide, f"{one.name}: samples at vector instructions", wide) &
            likely(seen >= set(whose.values()), f"{one.name}: samples of scan, select and aggregate", sorted(seen)))


def unroll(nr):
    base = base_of("calibrate-inline", nr)
    one = Run("calibrate-inline", "unroll")
    common(one, base)
    check(one.owners == base.owners, f"{one.name}: each line belongs to whom it did")
    copies = {}
    for r in one.assembly:
        if r["text"].startswith("imul") and (r["file"] or "").endswith(".ll"):  # (the listing has functions of images, too)
            for name in one.owners[r["line"]]:
                copies[name] = copies.get(name, 0) + 1
    want = {f"work {n}": 16 * n * (ROWS + 1) for n in (1, 2, 4)}
    check(copies == want, f"{one.name}: as many multiplications by operator as {want}", copies)
    print(f"FIGURE unroll: {sum(copies.values())} multiplications, work 1:2:4 is {proportion(one)} %")
    return named(one) & in_proportion(one) & alike(one, base, ("work 1", "work 2", "work 4"), 0.08)


def together(nr):
    one = Run("fig9", "inline,fold,cse,eliminate,fuse,vector,unroll,llvm")
    common(one, base_of("fig9", nr))
    both = [n for n, owners in one.owners.items() if len(owners) == 2]
    check(both, f"{one.name}: lines that belong to two operators")
    print(f"FIGURE all together: {100 * (1 - one.shares().get('', 0)):.2f} % of {len(one.samples)} samples end on operators")
    return named(one)


# A block is a recording with an optimization and one without.  What does not depend on chance is checked in each, and a single failure is one;
# the block agrees if samples are where they are expected, and shares are what they were.  Shares of two recordings on a busy machine, with page
# faults in half of them, differ by 7 points (one standard error): the bounds are 8 points for arithmetic and 12 for hash tables, and eight of ten
# blocks agree at least.  If lines were linked to other operators, or to nobody, shares would move by as much as these lines have: in each block.  (What says so
# exactly does in each, too.)  One of 20 blocks at most would not show it: two that agree are enough.  Of vectors each block is for another model.
RIGHT, FEW = 0.8, 0.05
CLAIMS = {fold: "a constant is nobody's, and work stays 1 : 2 : 4", eliminate: "what nobody needs is nobody's, and shares stay",
          cse: "a hash that two share is half each one's, and shares stay", fuse: "two words' update is half each one's, and together they have what "
          "they had", vector: "a vector instruction is its scalar one's", unroll: "copies are whose the loop is, and work stays 1 : 2 : 4",
          together: "with everything at once, samples end on operators"}
DIR = tempfile.mkdtemp()
try:
    for row, claim in CLAIMS.items():
        check(decide(f"{row.__name__}: {claim}", row, RIGHT, WRONG if row is vector else FEW), f"{row.__name__}: {claim}", "other blocks (above)")
        if failures:
            break
except SystemExit:  # too few blocks: what is wrong for certain counts all the same
    if not failures:
        raise
finally:
    shutil.rmtree(DIR)
for f in failures:
    print("expected:", f)
sys.exit(1 if failures else 0)
