# SPDX-License-Identifier: MIT
"""What `tailor export` writes, opened by those that it is written for, counts as its own CSV does.

consumers.py BUILD TRACE...

Firefox: the profiler's own command line (load, upgrade, threads, functions, markers).  Perfetto: its trace processor, asked in
SQL.  speedscope: its page's importer, which also reads folded stacks, pprof's and Perfetto's.  pprof: pprof-format.
BUILD/consumers has them (fetch.sh).
"""
import collections
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 120


class Failed(Exception):
    pass


def output(command, env=None):
    p = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, env=dict(os.environ, **(env or {})))
    if p.returncode:
        raise Failed(f"{' '.join(command)}: exit {p.returncode}: {p.stderr.decode(errors='replace')[-800:]}")
    return p.stdout.decode()


class Trace:
    """A trace, its exports, and what they should count."""
    def __init__(self, build, path, dir, level=None):
        self.build, self.path, self.dir, self.level = build, path, dir, level
        self.name = os.path.basename(path) + (f" --level {level}" if level else "")
        self.bad = self.checks = 0
        rows = list(csv.DictReader(open(self.export("csv"), encoding="utf-8")))
        event = rows[0]["event"]
        self.rows = [r for r in rows if r["event"] == event]
        self.event = event

    def export(self, format):
        file = f"{self.dir}/{os.path.basename(self.path)}-{self.level or 'function'}.{format}"
        if not os.path.exists(file):
            output([f"{self.build}/tailor", "export", "-f", format, "-o", file, self.path] + (["--level", self.level] if self.level else []))
        return file

    def json(self, *args):
        return json.loads(output([f"{self.build}/tailor", "report", "--json", "--top", "0", *args, self.path]))

    def pprof(self):
        return json.loads(output(["node", f"{HERE}/pprof.mjs", f"{self.build}/consumers/pprof-format", self.export("pprof")]))

    def own(self, value, tid=None):
        """Samples (0) or weight (1) by innermost frame, which may be an inlined function, that the CSV does not know."""
        own = collections.Counter()
        for s in self.pprof()["samples"]:
            if tid is None or thread_of(s) == tid:
                own[s["stack"][0]] += s["values"][value]
        return own

    def sums(self, key, what):
        """what(row) summed by key(row)."""
        sums = collections.Counter()
        for r in self.rows:
            sums[key(r)] += what(r)
        return sums

    def check(self, consumer, what, got, expected, tolerance=0.001):
        self.checks += 1
        if isinstance(expected, dict):
            near = all(abs(got.get(k, 0) - expected.get(k, 0)) <= tolerance * (1 + abs(expected.get(k, 0))) for k in {*got, *expected})
            got, expected = ({k: v for k, v in d.items() if abs(v - e.get(k, 0)) > tolerance * (1 + abs(v))}
                             for d, e in ((got, expected), (expected, got)))
        elif isinstance(expected, (int, float)):
            near = abs(got - expected) <= tolerance * (1 + abs(expected))
        else:
            near = got == expected
        if not near:
            self.bad += 1
            print(f"{self.name}: {consumer}: {what}: expected {expected!r}, got {got!r}")


def share(row):
    return float(row["share"])


def weight(row):
    return float(row["share"]) * int(row["weight"])


def thread(row):
    return int(row["tid"])


def thread_of(sample):
    return int(sample["labels"]["thread"].split()[-1])


def own_by_name(profile):
    own = collections.Counter()
    for f in profile["frames"]:
        own[f["name"]] += f["own"]
    return +own


def folded(t, importers):
    profile, = importers["folded"]
    t.check("speedscope, of folded", "samples", profile["weight"], round(sum(map(share, t.rows))), 0.002)
    if not t.level:
        t.check("speedscope, of folded", "samples by function", own_by_name(profile), t.own(0))


def speedscope(t, importers):
    profiles = importers["speedscope"]
    t.check("speedscope", "weight by thread", {int(p["name"].split()[-1]): p["weight"] for p in profiles}, t.sums(thread, weight))
    allowed = collections.Counter(c["name"] for c in t.json()["components"]) if t.level else collections.Counter(t.pprof()["functions"])
    for p in profiles:
        names = collections.Counter(f["name"] for f in p["frames"])
        t.check("speedscope", f"frames that {p['name']} has too often", names - allowed, {})
    if not t.level:
        own = sum(map(own_by_name, profiles), collections.Counter())
        t.check("speedscope", "weight by function", own, t.own(1))


def pprof(t, importers):
    profile = t.pprof()
    t.check("pprof-format", "kinds of values", [k[0] for k in profile["types"]], ["samples", t.event])
    samples, weights, by = collections.Counter(), collections.Counter(), collections.Counter()
    for s in profile["samples"]:
        samples[thread_of(s)] += s["values"][0]
        weights[thread_of(s)] += s["values"][1]
        by[s["labels"][t.level or "method"]] += s["values"][0]
    # whole numbers: of a sample that two components share, each has a rounded part
    t.check("pprof-format", "samples", sum(samples.values()), round(sum(map(share, t.rows))), 0.002)
    t.check("pprof-format", "samples by thread", samples, t.sums(thread, share), 0.01)
    t.check("pprof-format", "weight by thread", weights, t.sums(thread, weight))
    if not t.level:
        t.check("pprof-format", "samples by method", by, t.sums(lambda r: r["method"], share))
        own, expected = t.own(0), t.sums(lambda r: r["function"], share)
        if set(own) <= set(expected): # else functions are inlined
            t.check("pprof-format", "samples by function", own, expected)
    profile, = importers["pprof"]
    t.check("speedscope, of pprof", "weight", profile["weight"], sum(map(weight, t.rows)))


def firefox(t, importers):
    cli = ["node", f"{t.build}/consumers/profiler-cli/dist/profiler-cli.js"]
    env = {"PROFILER_CLI_SESSION_DIR": tempfile.mkdtemp(dir=t.dir), "PROFILER_CLI_NO_SYMBOLICATE": "1"}

    def ask(*args):
        return json.loads(output(cli + list(args) + ["--json"], env))

    output(cli + ["load", t.export("firefox")], env)
    try:
        handle = {int(x["tid"]): x["threadHandle"] for x in ask("thread", "list", "--limit", "0")["threads"]}
        t.check("profiler-cli", "threads", sorted(handle), sorted({thread(r) for r in t.rows}))
        t.check("profiler-cli", "samples by thread", {tid: ask("thread", "info", "--thread", h)["sampleCount"] for tid, h in handle.items()},
                collections.Counter(map(thread, t.rows)))
        counts, times = collections.Counter(), collections.Counter()
        for tid, h in handle.items():
            for kind in ask("thread", "markers", "--thread", h, "--limit", "0")["byType"]:
                counts[kind["markerName"]] += kind["count"]
                times[kind["markerName"]] += kind["count"] * kind["durationStats"]["avg"]
            if t.level:
                continue
            functions = ask("thread", "functions", "--thread", h, "--limit", "0", "--include-idle")["functions"]
            names = collections.Counter(f["name"] for f in functions)
            t.check("profiler-cli", "functions that it has too often", names - collections.Counter(t.pprof()["functions"]), {})
            own = collections.Counter()
            for f in functions:
                own[f["name"]] += f["selfSamples"]
            t.check("profiler-cli", f"samples by function of thread {tid}", own, t.own(0, tid))
        expected = marks_of(t)
        t.check("profiler-cli", "marks", counts, {k: v[0] for k, v in expected.items()})
        t.check("profiler-cli", "ms of marks", times, {k: v[1] / 1e6 for k, v in expected.items()})
    finally:
        output(cli + ["stop", "--all"], env)


def marks_of(t):
    """name: (count, ns)"""
    marks = collections.defaultdict(lambda: [0, 0])
    for m in t.json("--view", "marks")["tables"]["marks"]:
        marks[m["name"]][0] += m["count"]
        marks[m["name"]][1] += m["time_ns"]
    return marks


def perfetto(t, importers):
    queries = [
        "select name, count(*) as n, sum(dur) as ns, min(dur) as least from slice where category = 'mark' group by name",
        "select t.tid & ~(1 << 30) as tid, sum(extract_arg(s.arg_set_id, 'args.samples')) as samples, min(s.dur) as least, "
        "max(s.depth) as depth from slice s join thread_track k on s.track_id = k.id join thread t using (utid) "
        "where s.category = 'samples' group by 1",
        "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
        "select pid, name from process where pid > 0",
        "select count(*) as n from slice where category not in ('mark', 'samples')",
    ]
    marks, samples, errors, processes, others = (json.loads(line) for line in output(
        ["node", f"{HERE}/perfetto.mjs", f"{t.build}/consumers/argent/assets/trace-processor", t.export("perfetto")] + queries).splitlines())
    t.check("trace processor", "errors", errors, [])
    t.check("trace processor", "other slices", others[0]["n"], 0)
    t.check("trace processor", "processes", {p["pid"] for p in processes} >= {int(r["pid"]) for r in t.rows}, True)
    expected = marks_of(t)
    counts, ns = collections.Counter(), collections.Counter()
    for m in marks:
        name = next((k for k in sorted(expected, key=len, reverse=True) if m["name"].startswith(k)), m["name"])
        counts[name] += m["n"]
        ns[name] += m["ns"]
    t.check("trace processor", "marks", counts, {k: v[0] for k, v in expected.items()})
    t.check("trace processor", "ns of marks", ns, {k: v[1] for k, v in expected.items()})
    level = t.level or next(level["name"] for level in t.json()["levels"] if level["plan"])
    known = t.sums(thread, lambda r: share(r) if r[level] else 0)
    t.check("trace processor", "samples by thread", {s["tid"]: s["samples"] for s in samples}, +known)
    t.check("trace processor", "slices of samples that lie in others, or end before they begin",
            [s for s in samples if s["depth"] or s["least"] < 0], [])


def main():
    build = os.path.abspath(sys.argv[1])
    bad = checks = 0
    with tempfile.TemporaryDirectory() as dir:
        for spec in sys.argv[2:]:
            path, _, level = spec.partition(":")
            t = Trace(build, path, dir, level or None)
            page, = glob.glob(f"{build}/consumers/speedscope/dist/release/speedscope-*.js")
            formats = ["folded", "speedscope", "pprof"]
            lines = output(["node", f"{HERE}/speedscope.mjs", page] + [t.export(f) for f in formats]).splitlines()
            importers = dict(zip(formats, map(json.loads, lines)))
            for consumer in (folded, speedscope, pprof, firefox, perfetto):
                try:
                    consumer(t, importers)
                except (Failed, KeyError, IndexError, TypeError, ValueError, subprocess.TimeoutExpired) as e:
                    print(f"{t.name}: {consumer.__name__}: {type(e).__name__}: {e}")
                    t.bad += 1
            bad += t.bad
            checks += t.checks
    print(f"FIGURE {checks} comparisons by Firefox's, Perfetto's, speedscope's and pprof's own readers")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
