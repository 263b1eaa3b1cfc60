# SPDX-License-Identifier: MIT
"""How many samples of each query are on a plan node, and whether its rows are those of a server that nothing profiles."""
import collections
import os
import signal
import subprocess
import time

import cluster
import profile

FEW = 200  # samples: below that a share says little
BEFORE_NS = 30_000_000  # of processor time, so that a query is in its execution when it is attached to


class Row:
    def __init__(self, query, way, jit, workers):
        self.query, self.way, self.jit, self.workers = query, way, jit, workers
        self.samples = self.on_node = self.in_class = self.executor = self.found = self.generated = self.generated_found = 0
        self.reasons = collections.Counter()
        self.same = None  # rows as those of the server without a profiler

    def add(self, s):
        self.samples += 1
        self.on_node += s.is_named() and not s.in_class()
        self.in_class += s.in_class()
        if not s.is_named():
            self.reasons[s.reason] += 1
        if s.in_executor:
            self.executor += 1
            self.found += s.is_named()
            if s.generated:
                self.generated += 1
                self.generated_found += s.is_named()


def options(jit, workers):
    words = f"-c jit={jit} -c max_parallel_workers_per_gather={workers}"
    return words + " -c jit_above_cost=0" if jit == "on" else words


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def cpu_ns(pid):
    return int(open(f"/proc/{pid}/schedstat").read().split()[0])


class Bench:
    """A cluster with its data, and what its queries return where nothing profiles them."""

    def __init__(self, c, tailor, texts, seconds, rate):
        self.c, self.tailor, self.texts, self.seconds, self.rate = c, tailor, texts, seconds, rate
        self.binary = c.bin + "/postgres"
        self.executor = profile.function_range(self.binary, "standard_ExecutorRun")
        self.truth = {}
        self.traces = c.writable("traces")

    def bare(self, modes):
        with self.c.server():
            for jit, workers in modes:
                with self.c.session("bare", options(jit, workers)) as s:
                    for q, text in self.texts.items():
                        self.truth[q, jit, workers] = cluster.rows_hash(s.run(text))

    def repeat(self, s, text, until):
        rows = cluster.rows_hash(s.run(text))
        while now() < until:
            s.run(text)
        return rows

    def tally(self, trace, bias, windows):
        """windows: [(row, begin, end, pids that are not meant)]."""
        lo, hi = self.executor
        inside, cut = profile.in_function(self.tailor, trace, lo + bias, hi + bias)
        for s in profile.samples(self.tailor, trace):
            for row, begin, end, others in windows:
                if begin <= s.time_ns < end and s.pid not in others:
                    at = s.time_ns, s.tid
                    s.in_executor = at in inside or at in cut
                    row.add(s)
                    break

    # ------------------------------------------------------------------------------------------------------- the two ways

    def agent(self, jit, workers):
        trace = f"{self.traces}/agent-{jit}-{workers}.tlr"
        words = [self.tailor, "run", "-q", "-o", trace, "-r", str(self.rate), "--"]
        windows = []
        with self.c.server(tailor=words) as server:
            bias = profile.load_bias(server.pid, self.binary)
            others = server.background()
            for q, text in self.texts.items():
                row = Row(q, "agent", jit, workers)
                with self.c.session("check " + q, options(jit, workers)) as s:
                    begin = now()
                    row.same = self.repeat(s, text, begin + int(self.seconds * 1e9)) == self.truth[q, jit, workers]
                    windows.append((row, begin, now(), others))
        self.tally(trace, bias, windows)
        return [w[0] for w in windows]

    def attach(self, jit, workers):
        rows = []
        with self.c.server() as server:
            bias = profile.load_bias(server.pid, self.binary)
            others = server.background()
            for q, text in self.texts.items():
                with self.c.session("check " + q, options(jit, workers)) as s:
                    rows.append(self.attach_to(server, s, Row(q, "attach", jit, workers), text, bias, others))
        return rows

    def attach_to(self, server, s, row, text, bias, others):
        """The query is stopped where it is, attached to, and goes on."""
        trace = f"{self.traces}/attach-{row.query}-{row.jit}-{row.workers}.tlr"
        used = cpu_ns(s.pid)
        s.send(text)
        while cpu_ns(s.pid) < used + BEFORE_NS and not self.is_idle(s.pid):
            pass
        os.kill(s.pid, signal.SIGSTOP)
        try:
            # with workers the postmaster is attached to, whose children they are
            p = subprocess.Popen([self.tailor, "attach", "-q", "-o", trace, "-r", str(self.rate), str(server.pid if row.workers else s.pid)],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            cluster.wait_for("tailor attach records", lambda: p.poll() is not None or self.records(trace))
            begin = now()
        finally:
            os.kill(s.pid, signal.SIGCONT)
        row.same = cluster.rows_hash(s.answer()) == self.truth[row.query, row.jit, row.workers]
        self.repeat(s, text, begin + int(self.seconds * 1e9))
        end = now()
        if p.poll() is None:
            p.send_signal(signal.SIGINT)
        said = p.communicate()[0]
        if p.returncode:
            raise cluster.Failed(f"tailor attach: exit {p.returncode}: {said}")
        self.tally(trace, bias, [(row, begin, end, others)])
        os.unlink(trace)
        return row

    @staticmethod
    def is_idle(pid):
        return open(f"/proc/{pid}/wchan").read().startswith(("ep_poll", "do_epoll_wait"))

    def records(self, trace):
        """Mappings are written after counters are opened."""
        return os.path.exists(trace) and " MMAP " in subprocess.run([self.tailor, "dump", trace], capture_output=True, text=True).stdout


# ---------------------------------------------------------------------------------------------------------------- printing


def percent(part, whole):
    return f"{100 * part / whole:6.2f}" if whole else "     -"


HEAD = f"{'query':6}{'way':7}{'jit':4}{'w':2}{'samples':>8}{'node':>7}{'class':>7}{'executor':>9}{'found':>7}  not explained"


def line(name, way, jit, workers, rows):
    n = sum(r.samples for r in rows)
    executor, found = sum(r.executor for r in rows), sum(r.found for r in rows)
    reasons = sum((r.reasons for r in rows), collections.Counter())
    why = ", ".join(f"{reason} {100 * k / n:.1f}" for reason, k in reasons.most_common(3) if k >= n / 200)
    marks = "" if all(r.same for r in rows) else "  ROWS DIFFER"
    return (f"{name:6}{way:7}{jit:4}{workers!s:2}{n:8}{percent(sum(r.on_node for r in rows), n):>7}"
            f"{percent(sum(r.in_class for r in rows), n):>7}{executor:9}{percent(found, executor):>7}  {why}{marks}")


def print_total(rows):
    for way in sorted({r.way for r in rows}):
        for jit in sorted({r.jit for r in rows}):
            for workers in sorted({r.workers for r in rows}):
                part = [r for r in rows if (r.way, r.jit, r.workers) == (way, jit, workers)]
                if part:
                    print(line("total", way, jit, workers, part))
    generated = sum(r.generated for r in rows)
    if generated:
        print(f"generated code: {generated} samples, {percent(sum(r.generated_found for r in rows), generated).strip()} % on a node")


def verdict(rows, wanted):
    """Sentences on what falls short."""
    short = [f"{r.query} {r.way} jit={r.jit} workers={r.workers}: its rows differ from an unprofiled server's" for r in rows if not r.same]
    for r in rows:
        if r.executor >= FEW and 100 * r.found / r.executor < wanted:
            short.append(f"{r.query} {r.way} jit={r.jit} workers={r.workers}: {percent(r.found, r.executor).strip()} % of {r.executor} "
                         f"executor samples on a node or in a class, wanted {wanted:g}")
    few = [r for r in rows if r.executor < FEW]
    if few:
        print(f"not judged, fewer than {FEW} executor samples: {len(few)} of {len(rows)} (more with a higher SECONDS)")
    return short
