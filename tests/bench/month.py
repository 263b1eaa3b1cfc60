#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A store's month: month.py BUILD [STORE [FOLDER]]

Two processors, 200 queries of 10 operators, 5,000 code versions: two days of epochs of ten minutes and 28 days of hours, resampled from the
epochs of STORE (else of the engine, recorded here).  It says what the store takes, and what questions to it take: time with the file out of
the page cache, processor time, bytes read.
"""
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tests")
from store_replay import HOUR, Real, Replay

B = os.path.abspath(os.path.dirname(sys.argv[1]) if os.path.isfile(sys.argv[1]) else sys.argv[1])
QUERIES, OPERATORS, VERSIONS, LIBRARY = 200, 10, 5000, 400
RATE, CPUS, BUSY = 200, 2, 0.5


def record(folder):
    p = subprocess.Popen([f"{B}/tailor", "run", "-q", "--epochs", "1s", "-o", f"{folder}/engine.tlr", "--", f"{B}/engine", "--query", "q3",
                          "--scale", "0.02", "--threads", "2", "--repeat", "1000000"], stdout=subprocess.DEVNULL)
    time.sleep(20)
    p.send_signal(signal.SIGTERM)
    p.wait()
    store = f"{folder}/real.tlrs"
    subprocess.run([f"{B}/tailor", "db", "add", store, *(f"{folder}/{f}" for f in sorted(os.listdir(folder)) if f.startswith("engine."))],
                   check=True)
    return store


class Month:
    def __init__(self, store, path, queries=QUERIES):
        self.queries = queries
        self.real, self.r, self.rng = Real(store, skip=0), Replay(f"{B}/tailor", store, path), random.Random(1)
        self.shares = sorted(self.real.share.values(), reverse=True)
        self.spread = max(0.01, sorted(self.real.spread.values())[len(self.real.spread) // 2])
        self.name_things()

    def name_things(self):
        db, text, rng = self.r.db, self.r.text, self.rng
        event, process = (db.execute(f"SELECT min({c}) FROM series").fetchone()[0] for c in ("event", "process"))
        level = db.execute("SELECT max(level) FROM component").fetchone()[0]
        library = [db.execute("INSERT INTO function(name, image, jit) VALUES(?, ?, 0)", (text(f"runtime_function_{i}"),
                   text("/usr/bin/host"))).lastrowid for i in range(LIBRARY)]
        versions = [db.execute("INSERT INTO function(name, image, jit) VALUES(?, ?, 1)", (text(f"pipeline_{i}_of_a_query"),
                    text("(generated)"))).lastrowid for i in range(VERSIONS)]
        self.series, self.places = [], {}
        for q in range(self.queries):
            words = " ".join(f"column_{rng.randrange(90)} = ? and" for _ in range(rng.randrange(3, 30)))
            query = db.execute("INSERT INTO query(text) VALUES(?)", (text(f"select sum(a_{q}) from orders, lineitem where {words} ?"),)).lastrowid
            popular = 1 / (1 + q)**0.8
            for o in range(OPERATORS):
                component = db.execute("INSERT INTO component(level, name, place, detail, query, label) VALUES(?, ?, ?, ?, ?, 0)", (
                    level, text(f"hash join {o}"), text(" < ".join(f"join {n}" for n in range(o))), text(f"k_{q} = k_{o}"), query)).lastrowid
                s = db.execute("INSERT INTO series(process, component, event) VALUES(?, ?, ?)", (process, component, event)).lastrowid
                self.series.append((s, popular * self.shares[o % len(self.shares)]))
                of = [versions[(q * OPERATORS + o) * VERSIONS // (self.queries * OPERATORS) + n] for n in range(2)]
                of = list(dict.fromkeys(of + rng.sample(library, 6)))
                self.places[s] = [(db.execute("INSERT INTO place(series, function) VALUES(?, ?)", (s, f)).lastrowid, 0.5 / (1 + i)**1.2)
                                  for i, f in enumerate(of)]
        total = sum(p for _, p in self.series)
        self.series = [(s, p / total) for s, p in self.series]

    def count(self, mean):
        return max(0, round(self.rng.gauss(mean, mean**0.5))) if mean > 20 else sum(self.rng.random() < mean / 40 for _ in range(40))

    def add(self, begin_ns, tier, length_ns, parts, load=BUSY):
        samples = RATE * CPUS * load * length_ns / 1e9
        series, places = [], []
        for s, share in self.series:
            n = self.count(samples * share * 2.718**self.rng.gauss(0, self.spread))
            if not n:
                continue
            series.append((s, n, n * 5 * 10**6 + self.rng.randrange(10**6)))
            counts = [(p, self.count(n * part)) for p, part in self.places[s]]
            places += [(p, c) for p, c in counts if c]
        self.r.add(begin_ns, series, places, tier, length_ns, parts)
        return len(series) + len(places)


def make(store, path, now):
    m, rows = Month(store, path), 0
    for hour in range(28 * 24):
        rows += m.add(now - 48 * HOUR - (28 * 24 - hour) * HOUR, 1, HOUR, 6)
    for epoch in range(288):
        rows += m.add(now - (288 - epoch) * HOUR // 6, 0, HOUR // 6, 1)
    m.r.close()
    return rows


def ask(path, *arguments):
    """seconds with a cold file, of a processor, and MB read"""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    p = subprocess.run([f"{B}/tailor", *arguments], stdout=subprocess.DEVNULL)
    took, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert p.returncode in (0, 3), arguments
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, (after.ru_inblock - before.ru_inblock) / 2048


def main():
    with tempfile.TemporaryDirectory() as folder:
        store = sys.argv[2] if len(sys.argv) > 2 and sys.argv[2] else record(folder)
        folder = sys.argv[3] if len(sys.argv) > 3 else folder
        path, now = f"{folder}/month.tlrs", int(time.time()) // 3600 * HOUR
        if not os.path.exists(path):
            print(f"{make(store, path, now):,} rows of 30 days")
        print(f"store: {os.path.getsize(path) / 1e6:.1f} MB")
        utc = lambda days: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now // 10**9 - int(86400 * days)))
        for what, arguments in {
            "diff of two days of hours": ["diff", f"{path}@{utc(9)}..{utc(8)}", f"{path}@{utc(8)}..{utc(7)}"],
            "diff of two days of functions": ["diff", "--level", "function", f"{path}@{utc(9)}..{utc(8)}", f"{path}@{utc(8)}..{utc(7)}"],
            "diff of the last two days": ["diff", f"{path}@{utc(2)}..{utc(1)}", f"{path}@{utc(1)}..{utc(0)}"],
            "timeline of an operator, a month": ["db", "timeline", path, "--component", "hash join 3"],
            "report, a month": ["db", "report", path],
            "report of functions, a month": ["db", "report", path, "--view", "functions"],
            "changes of two hours": ["db", "changes", f"{path}@{utc(0.2)}..{utc(0.1)}"],
        }.items():
            tries = sorted(ask(path, *arguments) for _ in range(3))
            print(f"{what:34} {tries[1][0]:6.2f} s, {min(t[1] for t in tries):5.2f} s of a processor, {tries[1][2]:5.1f} MB read")


if __name__ == "__main__":
    main()
