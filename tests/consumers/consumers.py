# SPDX-License-Identifier: MIT
"""What `tailor export` writes, opened by those that it is written for, counts as its own CSV does.

consumers.py BUILD TRACE[:LEVEL]...
consumers.py BUILD --large TRACE...: those that are no small packages: a browser, with flame graphs and with speedscope's page; Go's pprof

Firefox: the profiler's own command line (load, upgrade, threads, functions, markers).  Perfetto: its trace processor, asked in
SQL.  speedscope: its page's importer, which also reads folded stacks, pprof's and Perfetto's.  pprof: pprof-format.
BUILD/consumers has them (fetch.sh).
"""
import base64
import collections
import csv
import glob
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 300


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
        file = f"{self.dir}/{os.path.basename(self.path)}-{self.level or 'function'}.{'svg' if format == 'flamegraph' else format}"
        if not os.path.exists(file):
            output([f"{self.build}/tailor", "export", "--overwrite", "-f", format, "-o", file, self.path] + (["--level", self.level] if self.level else []))
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
            print(f"{self.name}: {consumer}: {what}: expected {str(expected)[:500]}, got {str(got)[:500]}")


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
    t.check("speedscope, of folded", "weight", profile["weight"], sum(map(weight, t.rows)), 0.002)
    if not t.level:
        t.check("speedscope, of folded", "weight by function", own_by_name(profile), t.own(1))


def speedscope(t, importers):
    profiles = importers["speedscope"]
    t.check("speedscope", "weight by thread", {int(p["name"].split()[-1]): p["weight"] for p in profiles}, t.sums(thread, weight))
    allowed = collections.Counter(c.get("label", c["name"]) for c in t.json()["components"]) if t.level else collections.Counter(t.pprof()["functions"])
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

    # `load` gives up on a daemon that has not begun within half a second, so the daemon is started here; and who asks one that does not
    # answer yet takes its session away, so the first question is put when its socket accepts and its session is written down
    daemon = subprocess.Popen(cli + ["--daemon", t.export("firefox"), "--session", "ours"], env=dict(os.environ, **env),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def answers():
        at = env["PROFILER_CLI_SESSION_DIR"]
        with socket.socket(socket.AF_UNIX) as s:
            return os.path.exists(f"{at}/current.txt") and os.path.exists(f"{at}/ours.json") and s.connect_ex(f"{at}/ours.sock") == 0

    try:
        begin = time.monotonic()
        while not answers():
            if daemon.poll() is not None:
                raise Failed(f"profiler-cli --daemon: exit {daemon.returncode}: {daemon.stderr.read().decode(errors='replace')[-800:]}")
            if time.monotonic() - begin > LIMIT_S:
                raise Failed(f"profiler-cli --daemon: it does not answer after {LIMIT_S} s")
            time.sleep(0.05)
        threads = ask("thread", "list", "--limit", "0")["threads"]
        handle = {int(x["tid"]): x["threadHandle"] for x in threads}
        t.check("profiler-cli", "threads", sorted(handle), sorted({thread(r) for r in t.rows}))
        t.check("profiler-cli", "samples by thread", {tid: ask("thread", "info", "--thread", h)["sampleCount"] for tid, h in handle.items()},
                collections.Counter(map(thread, t.rows)))
        if t.event == "task-clock": # of a thread's first sample nobody knows since when
            first = {thread(r): weight(r) for r in sorted(t.rows, key=lambda r: -int(r["time_ns"]))}
            t.check("profiler-cli", "ms of CPU by thread", {int(x["tid"]): x["cpuMs"] for x in threads},
                    {tid: (w - first[tid]) / 1e6 for tid, w in t.sums(thread, weight).items()})
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
            ns = 1e6 if t.event in ("task-clock", "cpu-clock") else 1
            t.check("profiler-cli", f"weight by function of thread {tid}", own, {k: v / ns for k, v in t.own(1, tid).items()})
        expected = marks_of(t)
        t.check("profiler-cli", "marks", counts, {k: v[0] for k, v in expected.items()})
        t.check("profiler-cli", "ms of marks", times, {k: v[1] / 1e6 for k, v in expected.items()})
    finally:
        daemon.kill()
        daemon.wait()
        daemon.stderr.close()


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


def of_c(own):
    """Without the names of C++, which viewers write out in different ways."""
    return {k: v for k, v in own.items() if v and not k.startswith(("_Z", "operator ")) and "::" not in k}


def browse(url, *expressions):
    return [json.loads(line) for line in output(["node", f"{HERE}/browser.mjs", "chromium-headless-shell", url, *expressions]).splitlines()]


def flamegraph(t):
    """Shown, zoomed and searched."""
    total, own = round(sum(map(share, t.rows))), t.own(0)
    name = max(own, key=own.get)
    of_name = f"[...document.querySelectorAll('g.f')].filter((g) => g.dataset.n === {json.dumps(name)})"
    note, widths, zoomed, found = browse(
        f"file://{t.export('flamegraph')}", "document.getElementById('note').textContent",
        "[...document.querySelectorAll('g.f')].filter((g) => g.dataset.d <= 1).map((g) => [+g.dataset.d, g.querySelector('rect').getBBox().width])",
        f"({of_name})[0].dispatchEvent(new MouseEvent('click')), ({of_name})[0].querySelector('rect').getBBox().width",
        f"window.prompt = () => {json.dumps(name)}, document.getElementById('search').dispatchEvent(new MouseEvent('click')), "
        "document.getElementById('note').textContent")
    t.check("browser", "samples of the flame graph", note.split(";")[0], f"{total} samples")
    t.check("browser", "width of the lowest box", [round(w) for d, w in widths if d == 0], [1180])
    t.check("browser", "width of those on it", sum(w for d, w in widths if d == 1), 1180, 0.01)
    t.check("browser", f"width of {name}, zoomed to", round(zoomed), 1180)
    t.check("browser", f"samples that the search for {name} finds", int(found.split()[-1]), sum(n for k, n in own.items() if name in k))


def speedscope_page(t):
    """Its table of functions, as people see it."""
    data = base64.b64encode(open(t.export("speedscope"), "rb").read()).decode()
    script = f"{t.dir}/profile.js"
    with open(script, "w", encoding="utf-8") as f:
        f.write(f"speedscope.loadFileFromBase64('a trace', '{data}')")
    shown = "new Promise((done) => setTimeout(function look() { %s ? done(document.body.innerText) : setTimeout(look, 100) }))"
    _, text = browse(f"file://{t.build}/consumers/speedscope/dist/release/index.html#localProfilePath={script}",
                     shown % "document.body.innerText.includes('Sandwich')",
                     "window.dispatchEvent(new KeyboardEvent('keypress', { key: '3' })), " + shown %
                     "document.body.innerText.split('Symbol Name')[1]?.trim()")
    own = collections.Counter()
    rows = [x for x in text.split("Symbol Name", 1)[1].split("\n") if x.strip()]
    for _, self_weight, name in zip(rows[0::3], rows[1::3], rows[2::3]):
        own[name.strip()] += int(self_weight.split()[0].replace(",", ""))
    head = next(line for line in text.splitlines() if line.endswith("/" + str(len(t.sums(thread, share))) + ")"))
    tid = int(head.split()[-2])
    expected = t.own(1, tid)
    shown_ones = {k: v for k, v in of_c(expected).items() if k in own} # the table has only rows that are in sight
    t.check("speedscope's page", "weight by function", of_c(own), shown_ones)
    t.check("speedscope's page", "functions that are in sight", len(shown_ones) >= min(5, len(of_c(expected))), True)


def go_pprof(t):
    go = "/usr/lib/go-1.19/bin/go"
    text = output([go, "tool", "pprof", "-top", "-nodecount=0", "-nodefraction=0", "-sample_index=samples", "-flat",
                   "-symbolize=demangle=none", t.export("pprof")],
                  {"HOME": t.dir})
    own = collections.Counter()
    for line in text.split("flat%", 1)[1].splitlines()[1:]:
        fields = line.split(None, 5)
        own[fields[5]] += int(fields[0])
    t.check("go tool pprof", "samples", sum(own.values()), round(sum(map(share, t.rows))))
    t.check("go tool pprof", "samples by function", of_c(own), of_c(t.own(0)))
    text = output([go, "tool", "pprof", "-tags", "-sample_index=samples", t.export("pprof")], {"HOME": t.dir})
    threads = collections.Counter()
    for line in text.split("thread: Total", 1)[1].splitlines()[1:]:
        if not line.strip():
            break
        threads[int(line.split()[-1])] += float(line.split()[0])
    t.check("go tool pprof", "samples by thread", threads, t.sums(thread, share), 0.01)


def large(build, paths, dir):
    bad = checks = 0
    for path in paths:
        t = Trace(build, path, dir)
        for consumer in (flamegraph, speedscope_page, go_pprof):
            bad += not attempt(t, consumer)
        bad += t.bad
        checks += t.checks
    return bad, checks


def attempt(t, consumer, *args):
    try:
        consumer(t, *args)
    except (Failed, KeyError, IndexError, TypeError, ValueError, StopIteration, subprocess.TimeoutExpired) as e:
        print(f"{t.name}: {consumer.__name__}: {type(e).__name__}: {e}")
        return False
    return True


def main():
    build = os.path.abspath(sys.argv[1])
    if sys.argv[2] == "--large":
        with tempfile.TemporaryDirectory() as dir:
            bad, checks = large(build, sys.argv[3:], dir)
        print(f"FIGURE {checks} comparisons by a browser and by Go's pprof")
        sys.exit(1 if bad else 0)
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
                bad += not attempt(t, consumer, importers)
            bad += t.bad
            checks += t.checks
    print(f"FIGURE {checks} comparisons by Firefox's, Perfetto's, speedscope's and pprof's own readers")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
