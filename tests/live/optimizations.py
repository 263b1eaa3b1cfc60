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

B = sys.argv[1]
ROWS = 4  # that a loop takes at once
SIZES = {"fig9": ("0.1", 6), "q6": ("0.5", 40), "calibrate-inline": ("0.3", 50)}  # scale, executions: some thousand samples
failures = []


def check(condition, what, got=""):
    if not condition:
        failures.append(f"{what}" + (f"; got {got}" if got != "" else ""))


class Run:
    """One recording: results, the dictionary as it is in the end, samples of the run phase."""

    def __init__(self, query, optimize, times=1):
        scale, repeat = SIZES[query]
        self.name, trace = f"{query} --optimize {optimize}", f"{DIR}/t.tlr"
        out = self.call(f"{B}/tailor", "run", "-q", "-o", trace, "--", f"{B}/engine", "--query", query, "--scale", scale, "--threads", "1",
                        "--repeat", str(times * repeat), "--optimize", optimize, "--check")
        self.checksum = re.search(r"rows, checksum (\w+)", out)[1]
        check("the naive evaluation agrees" in out, f"{self.name}: the naive evaluation agrees", out)
        listing = [r for r in self.json("report", "--view", "ir", "--json", trace)["ir"] if r["source"].endswith(".ll")]
        self.text = [r["text"] for r in listing]
        self.listed = {r["line"]: r["operator"] for r in listing}
        self.read_dictionary(self.call(f"{B}/tailor", "dump", "--json", trace))
        self.samples = {}  # time -> [(operator, share, line, weight)]
        for r in csv.DictReader(io.StringIO(self.call(f"{B}/tailor", "export", "--format", "csv", trace))):
            if int(r["phase"]):
                line = int(r["line"]) if r["file"].endswith(".ll") else 0
                self.samples.setdefault(r["time_ns"], []).append((r["operator"], float(r["share"]), line, float(r["weight"])))
        self.rows = {r["name"] + r.get("name_detail", ""): r["rows"] for r in
                     self.json("report", "--view", "plan", "--json", "--top", "0", trace)["rows"]}
        self.trace = trace
        self.assembly = self.json("report", "--view", "asm", "--json", "--top", "0", trace)["asm"]

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


def common(one, base, least=0.99):
    """What holds for each."""
    check(one.checksum == base.checksum, f"{one.name}: the result is that of {base.name}")
    check(one.rows == base.rows, f"{one.name}: each operator has as many rows as in {base.name}", f"{one.rows} and {base.rows}")
    named = 1 - one.shares().get("", 0)
    check(named >= least, f"{one.name}: at least {100 * least:.0f} % of the samples end on operators", f"{100 * named:.1f} %")
    check(len(one.samples) > 300, f"{one.name}: more than 300 samples", len(one.samples))
    orphans = {line for s in one.samples.values() for operator, _, line, _ in s if line and not operator}
    check(not orphans, f"{one.name}: no sample is at a line that nobody owns", sorted(orphans))
    for time, s in one.samples.items():
        if abs(sum(share for _, share, _, _ in s) - 1) > 1e-6:
            check(False, f"{one.name}: the shares of a sample add up to 1", f"{time}: {s}")
            break


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
    for name in names:
        check(abs(a.get(name, 0) - b.get(name, 0)) <= most, f"{one.name}: the share of {name} is within {100 * most:.0f} points of what it is in "
              f"{base.name}", f"{100 * a.get(name, 0):.1f} % and {100 * b.get(name, 0):.1f} %")


def in_proportion(one):
    """calibrate-inline's operators work 1 : 2 : 4, one after the other."""
    s = one.shares()
    for n in (1, 2, 4):
        got = s.get(f"work {n}", 0)
        check(abs(got - n / 7) < 0.08, f"{one.name}: work {n} has {n} of 7 parts of the samples", f"{100 * got:.1f} %")
    return " ".join(f"{100 * s.get(f'work {n}', 0):.1f}" for n in (1, 2, 4))


def fold(base):
    one = Run("calibrate-inline", "fold")
    common(one, base)
    constant = [n for n, text in base.generated() if re.search(r"= (add|mul|icmp \w+) i64 -?\d+, -?\d+$", text)]
    gone(one, base, constant, "constant")
    branches = [n for n, text in one.generated() if text.startswith("br i1") and not one.owners.get(n)]
    check(branches, "calibrate-inline --optimize fold: a branch on a constant was removed")
    made = [one.owners[n] for n in one.made()]
    check(made == [{"select": 1}], "calibrate-inline --optimize fold: the shorter branch is the select's", made)
    alike(one, base, ("work 1", "work 2", "work 4"), 0.08)
    return f"fold: {len(constant)} lines removed, work 1:2:4 is {in_proportion(one)} %"


def eliminate(base):
    one = Run("fig9", "eliminate")
    common(one, base)
    unused = []
    for n, text in base.generated():
        name = re.match(r"(%\w+) = (load|getelementptr|bitcast|add|icmp)", text)
        function = next(m for m in range(n, 0, -1) if base.text[m - 1].startswith("define"))
        end = next(m for m in range(n, len(base.text)) if base.text[m - 1] == "}")
        if name and not any(re.search(re.escape(name[1]) + r"\b", base.text[m - 1]) for m in range(function, end + 1) if m != n):
            unused.append(n)
    gone(one, base, unused, "unused")
    alike(one, base, ("group by", "hash join"), 0.12)
    return f"eliminate: {len(unused)} lines and what only they used"


def cse(base):
    one = Run("fig9", "cse", times=3)
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
        check(len(want) == 2 and one.owners[a] == want, f"fig9 --optimize cse: line {a} belongs to both in equal parts", one.owners[a])
        for k in range(1, 4):  # the rest of the hash goes with it
            check(one.owners[a + k] == want and not one.owners[b + k], f"fig9 --optimize cse: so does line {a + k}", one.owners[a + k])
    shared = [s for s in one.samples.values() if any(line in range(a, a + 4) for a, _ in pairs for _, _, line, _ in s)]
    check(shared, "fig9 --optimize cse: samples at the shared hash")
    check(all(sorted(share for _, share, _, _ in s) == [0.5, 0.5] and {o for o, _, _, _ in s} == {"hash join", "group by"} for s in shared),
          "fig9 --optimize cse: each sample at the shared hash is half the join's and half the group by's", shared[:2])
    alike(one, base, ("group by", "hash join"), 0.12)
    return f"cse: {len(shared)} samples at the shared hash"


def fuse(base):
    one = Run("q6", "fuse")
    common(one, base)
    fused = [n for n in one.made() if re.match(r"store <2 x i64>|%\w+ = (load|add) <2 x i64>", one.line(n)) and len(one.owners[n]) == 2]
    check({one.line(n).split()[0] for n in fused} >= {"store"} and len(fused) >= 3, "q6 --optimize fuse: a load, an add and a store of two words "
          "of two operators", [one.line(n) for n in fused])
    both = {"scan lineitem": 1, "select": 1}
    mine = [n for n in fused if one.owners[n] == both]
    check(len(mine) >= 3, "q6 --optimize fuse: they belong to the scan and the select in equal parts", [one.owners[n] for n in fused])
    check(all(one.listed[n] == "scan lineitem + select" for n in mine), "q6 --optimize fuse: the listing names both",
          [one.listed[n] for n in mine])
    updates = [n for n, text in base.generated() if text.startswith("store") and base.owners.get(n) and list(base.owners[n])[0] in both]
    gone(one, base, [n for n in updates if not one.owners.get(n)][:2] or updates, "fused")
    samples = [s for s in one.samples.values() if any(line in mine for _, _, line, _ in s)]
    check(samples and all(sorted((o, share) for o, share, _, _ in s) == [("scan lineitem", 0.5), ("select", 0.5)] for s in samples),
          "q6 --optimize fuse: each sample there is half the scan's and half the select's", samples[:2])
    a, b = one.shares(), base.shares()
    check(abs(sum(a.get(n, 0) - b.get(n, 0) for n in both)) < 0.08, "q6 --optimize fuse: the two together have what they had",
          f"{sum(a.get(n, 0) for n in both)} and {sum(b.get(n, 0) for n in both)}")
    return f"fuse: {len(samples)} samples at fused instructions"


def vector(base):
    one = Run("q6", "vector")
    common(one, base, 0.98)  # so fast that handing out morsels, which is nobody's work, counts
    check(one.owners == base.owners, "q6 --optimize vector: each line belongs to whom it did")
    whose = {"": "scan lineitem", "+0x08": "select", "+0x80": "aggregate"}  # which word of the worker's is updated
    wide = [r for r in one.assembly if re.search(r"[xy]mm\d", r["text"]) and r["samples"]]
    check(wide, "q6 --optimize vector: samples at vector instructions")
    nr = 0
    for r in one.assembly:
        word = re.match(r"add (?:qword ptr )?\[rdi(\+0x08|\+0x80)?\], ", r["text"])
        if word and r["function"] == "pipeline_1":
            nr += 1
            want = whose[word[1] or ""]
            check(list(one.owners[r["line"]]) == [want], f"q6 --optimize vector: '{r['text']}' is of {want}", one.owners[r["line"]])
    check(nr >= 6, "q6 --optimize vector: three words are updated by the vector loop and by the one for the rest", nr)
    check(set(one.shares()) - {""} == set(base.shares()) - {""}, "q6 --optimize vector: the operators that were seen are those of q6",
          sorted(one.shares()))
    return f"vector: {sum(r['samples'] for r in wide)} samples at vector instructions"


def unroll(base):
    one = Run("calibrate-inline", "unroll")
    common(one, base)
    check(one.owners == base.owners, "calibrate-inline --optimize unroll: each line belongs to whom it did")
    copies = {}
    for r in one.assembly:
        if r["text"].startswith("imul"):
            for name in one.owners[r["line"]]:
                copies[name] = copies.get(name, 0) + 1
    want = {f"work {n}": 16 * n * (ROWS + 1) for n in (1, 2, 4)}
    check(copies == want, f"calibrate-inline --optimize unroll: as many multiplications by operator as {want}", copies)
    alike(one, base, ("work 1", "work 2", "work 4"), 0.08)
    return f"unroll: {sum(copies.values())} multiplications, work 1:2:4 is {in_proportion(one)} %"


def together(base):
    one = Run("fig9", "inline,fold,cse,eliminate,fuse,vector,unroll,llvm")
    common(one, base)
    both = [n for n, owners in one.owners.items() if len(owners) == 2]
    check(both, f"{one.name}: lines that belong to two operators")
    return f"all together: {100 * (1 - one.shares().get('', 0)):.2f} % of {len(one.samples)} samples end on operators"


DIR = tempfile.mkdtemp()
try:
    FIG9, Q6, WORK = Run("fig9", "none"), Run("q6", "none"), Run("calibrate-inline", "none")
    in_proportion(WORK)
    for row, base_of in ((fold, WORK), (eliminate, FIG9), (cse, FIG9), (fuse, Q6), (vector, Q6), (unroll, WORK), (together, FIG9)):
        print("FIGURE", row(base_of))
finally:
    shutil.rmtree(DIR)
for f in failures:
    print("expected:", f)
sys.exit(1 if failures else 0)
