#!/bin/bash
# SPDX-License-Identifier: MIT
# Every filter is every view's, every export's and --samples': the same samples are counted everywhere, and they are those that the
# whole trace's CSV says have what the filter asks for.
# Not quick: hundreds of filters.
set -u
B=$1
/usr/bin/python3 - "$B" <<'END'
import collections, csv, io, json, math, os, re, subprocess, sys, tempfile

B, bad, checks = sys.argv[1], 0, 0

def tailor(*args):
    p = subprocess.run([f"{B}/tailor", *args], capture_output=True, timeout=60)
    if p.returncode:
        sys.exit(f"tailor {' '.join(args)}: exit {p.returncode}: {p.stderr.decode()}")
    return p.stdout.decode()

def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))

def share(rows):
    return sum(float(r["share"]) for r in rows)

def samples(rows):
    return len({(r["time_ns"], r["tid"], r["cpu"], r["event"]) for r in rows})

# The views whose rows are all samples, each once (where the sum is not of all levels' tables: which table).
WHOLE = {"plan": "plan", "components": None, "functions": "functions", "lines": "lines", "images": "images", "threads": "threads",
         "processes": "processes", "timeline": "bins", "methods": "methods", "events": "events"}
# ... and those whose outermost rows are.
TREES = {"tree": "tree", "callers": "callers"}

def views(trace, filter):
    """name, samples"""
    for view, table in WHOLE.items():
        tables = json.loads(tailor("report", "--view", view, "--top", "0", "--json", *filter, trace)).get("tables", {})
        for name in [table] if table else tables:
            yield f"--view {view} ({name})", sum(r.get("samples") or 0 for r in tables.get(name, []))
    for view, table in TREES.items():
        j = json.loads(tailor("report", "--view", view, "--top", "0", "--json", *filter, trace))
        yield f"--view {view}", sum(r["samples"] for r in j["tables"].get(table, []) if r["depth"] == 0)
        yield f"--view {view}: its heading", j["samples"]
        empty = [r["name"] for r in j["tables"].get(table, []) if not r["samples"]]
        if empty:
            yield f"--view {view}: calls of none of them ({', '.join(empty)})", math.inf
    yield "--json", json.loads(tailor("report", "--json", *filter, trace))["samples"]["total"]

def tables(trace, view, *filter):
    """Samples in each table of any view."""
    for name, rows in json.loads(tailor("report", "--view", view, "--top", "0", "--json", *filter, trace)).get("tables", {}).items():
        if any("samples" in r for r in rows):
            yield name, sum(r.get("samples") or 0 for r in rows)

def exports(trace, filter, dir):
    def text(format):
        file = f"{dir}/{format}"
        tailor("export", "--overwrite", "-f", format, "-o", file, *filter, trace)
        return open(file, encoding="utf-8", errors="replace").read()
    rows = rows_of(text("csv"))
    yield "csv", share(rows)
    # weights, as if all samples weighed the same
    each = sum(float(r["weight"]) * float(r["share"]) for r in rows) / share(rows) if rows else 1
    yield "json", json.loads(text("json"))["samples"]["total"]
    yield "folded", sum(int(line.rsplit(" ", 1)[1]) for line in text("folded").splitlines()) / each
    j = json.loads(text("firefox"))
    unit = {"tracing-ms": 1e6, "samples": 1}
    yield "firefox", sum(sum(t["samples"]["weight"]) * unit[t["samples"]["weightType"]] for t in j["threads"]) / each
    yield "flamegraph", float(re.search(r"id=\"note\">([0-9]+) samples", text("flamegraph")).group(1))

def check(trace, filter, what, got, expected):
    global bad, checks
    checks += 1
    if abs(got - expected) > 0.01 + 0.004 * expected: # rounded numbers of some
        print(f"{trace} {' '.join(filter)}: {what}: expected {expected:g} samples, got {got:g}")
        bad = 1

for trace in ("tests/golden/v1.tlr", "tests/golden/v2.tlr"):
    rows = rows_of(tailor("export", "-f", "csv", trace))
    rows = [r for r in rows if r["event"] == rows[0]["event"]]
    first = min(int(r["time_ns"]) for r in rows)
    slices = json.loads(tailor("export", "-f", "perfetto", trace))["traceEvents"]
    marks = [e for e in slices if e.get("cat") == "mark"]
    # slices begin at 0 where the recording does: when the first sample of Firefox's is, there and in the CSV
    threads = json.loads(tailor("export", "-f", "firefox", trace))["threads"]
    zero = first - min(t for thread in threads for t in thread["samples"]["time"]) * 1e6
    for m in marks:
        m["begin_ns"] = zero + m["ts"] * 1e3
        m["end_ns"] = m["begin_ns"] + m["dur"] * 1e3
    most = lambda key: collections.Counter(r[key] for r in rows if r[key]).most_common(2)[-1][0]
    tid, pid, function, operator = most("tid"), most("pid"), most("function"), most("operator")
    names = {str(e["tid"]): e["args"]["name"] for e in slices if e["name"] == "thread_name"}
    s = lambda r: (int(r["time_ns"]) - first) / 1e9
    filters = {
        (): lambda r: True,
        ("--event", rows[0]["event"]): lambda r: True,
        ("--thread", tid): lambda r: r["tid"] == tid,
        ("--thread-name", f"^{re.escape(names[tid])}$"): lambda r: names[r["tid"]] == names[tid],
        ("--process", pid): lambda r: r["pid"] == pid,
        ("--function", function): lambda r: r["function"] == function,
        ("--component", f"operator:{operator}"): lambda r: r["operator"] == operator,
        ("--from", "0.03"): lambda r: s(r) >= 0.03,
        ("--to", "0.05"): lambda r: s(r) < 0.05,
        ("--from", "0.02", "--to", "0.06", "--thread", tid): lambda r: 0.02 <= s(r) < 0.06 and r["tid"] == tid,
    }
    # whatever a view counts: what it counts of each thread adds up to what it counts of all
    for view in re.findall(r"^  ([a-z]+)  ", tailor("help", "report").split("Views:")[1], re.M):
        parts = collections.Counter()
        for each in sorted({r["tid"] for r in rows}):
            parts.update(dict(tables(trace, view, "--mark", "all", "--thread", each)))
        for table, whole in tables(trace, view, "--mark", "all"):
            if table not in ("marks", "slowest", "strides"): # a mark is of one thread; strides are of streams
                check(trace, ("--thread", "EACH"), f"--view {view} ({table})", parts[table], whole)
    with tempfile.TemporaryDirectory() as dir:
        # --mark all: views of operators show the run phase alone, else
        cases = [(f + ("--mark", "all"), [r for r in rows if passes(r)]) for f, passes in filters.items()]
        for mark in ("run", "compile", "run#2", "run#33"):
            name, _, instance = mark.partition("#")
            within = [m for m in marks if m["name"] == name and (not instance or m["args"]["instance"] == int(instance))]
            inside = [r for r in rows if any(m["begin_ns"] <= int(r["time_ns"]) < m["end_ns"] and m["pid"] == int(r["pid"])
                                             for m in within)]
            cases.append((("--mark", mark), inside))
            if name == "run":
                cases.append((("--mark", mark, "--component", f"operator:{operator}"), [r for r in inside if r["operator"] == operator]))
        for filter, expected in cases:
            lines = tailor("report", "--samples", *filter, trace).splitlines()
            check(trace, filter, "--samples", len(lines) - 1, samples(expected))
            for what, got in list(views(trace, filter)) + list(exports(trace, filter, dir)):
                check(trace, filter, what, got, share(expected))
    # what passes through a function is what has it in its call stack, by the stacks that other viewers get
    stacks = [line.rsplit(" ", 1) for line in tailor("export", "-f", "folded", "--mark", "all", trace).splitlines()]
    whole = sum(int(n) for _, n in stacks)
    named = json.loads(tailor("report", "--view", "functions", "--json", trace))["tables"]["functions"]
    named = {r["name"]: r for r in named if r["generated"] or r["symbol"]}
    for name in sorted(named, key=lambda n: named[n]["total_samples"])[-3:]:
        expected = 100 * sum(int(n) for frames, n in stacks if name in frames.split(";")) / whole
        below = ("--below", f"function:{name}", "--mark", "all")
        check(trace, below, "total, in per cent", 100 * named[name]["total"], expected)
        for what, got in views(trace, below):
            check(trace, below, what, got, named[name]["total_samples"])
print(f"FIGURE {checks} counts of samples compared")
sys.exit(bad)
END
