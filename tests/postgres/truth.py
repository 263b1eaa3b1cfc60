# SPDX-License-Identifier: MIT
"""tailor's node of each sample beside the node that a test's own extension (witness.c) left on the stack."""
import bisect
import collections
import contextlib
import glob
import itertools
import os
import signal
import subprocess

import cluster
import nodes
import profile

# Nodes that are not called through ExecProcNode have no wrapper: the nearest node above has one.  By the names of EXPLAIN.
UNWRAPPED = ("Hash", "Bitmap Index Scan", "BitmapAnd", "BitmapOr")
REPLACED = "Parallel Hash Join"  # a leader that starts workers gives it another function, and the wrapper is gone
WANTED = 99.7


def build(c):
    """The extension's path; or a sentence why there is none."""
    include = os.environ.get("PG_SERVER_INCLUDE") or subprocess.run(["pg_config", "--includedir-server"], capture_output=True,
                                                                     text=True).stdout.strip()
    if not os.path.exists(include + "/postgres.h"):
        return None, "the server's headers are not installed (package postgresql-server-dev-%d)" % c.version
    to = c.folder + "/witness.so"
    done = subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-I" + include, "-o", to, os.path.dirname(os.path.abspath(__file__)) +
                           "/witness.c"], capture_output=True, text=True)
    return (to, None) if not done.returncode else (None, "witness.c cannot be compiled: " + done.stderr.strip().splitlines()[0])


class Trees:
    """What lived at an address: from the trace's OBJECT records."""

    def __init__(self, tailor, trace):
        self.at = collections.defaultdict(list)  # (pid, address) -> [(time, upper, component of the node level)]
        for r in profile.objects(tailor, trace):
            f = r["fields"]
            if r["record"] == "OBJECT":
                self.at[r["pid"], f["address"]].append((r["time_ns"], f["upper"], [c["component"] & profile.ID for c in f["components"]]))
        for lives in self.at.values():
            lives.sort(key=lambda x: x[0])

    def find(self, pid, address, time_ns):
        lives = self.at.get((pid, address))
        if not lives:
            return None
        n = bisect.bisect_right(lives, time_ns, key=lambda x: x[0]) - 1
        return lives[max(n, 0)]

    def ids(self, pid, address, time_ns, is_wrapped):
        """Components of the nearest wrapped object from address on upwards."""
        for _ in range(100):
            o = self.find(pid, address, time_ns)
            if not o:
                return None
            if is_wrapped(o[2]):
                return o[2]
            address = o[1]
        return None


def logged(folder):
    """{(pid, address): [upper, ...]} and the number of nodes, from what the extension wrote."""
    above, runs = collections.defaultdict(set), 0
    for name in glob.glob(folder + "/*"):
        pid = int(os.path.basename(name))
        for line in open(name):
            f = line.split()
            if f[0] == "node":
                above[pid, int(f[1], 16)].add(int(f[2], 16))
            else:
                runs += 1
    return above, runs


def compare(tailor, trace, windows, folder):
    trees = Trees(tailor, trace)
    above, _ = logged(folder)
    name_of = {c["id"] & profile.ID: c["name"] for c in profile.report(tailor, trace)["components"] if c["level"] == "node"}
    said = {}
    for s in profile.samples(tailor, trace):
        said[s.time_ns, s.tid] = s

    def is_wrapped(ids):
        names = [name_of.get(i, "").removeprefix("Parallel ") for i in ids if name_of.get(i) != REPLACED]
        return len(names) == len(ids) and not any(n == u or n.startswith(u + " on") for n in names for u in UNWRAPPED)

    tally = collections.defaultdict(collections.Counter)
    wrong = collections.Counter()
    for time_ns, pid, tid, node in profile.witnesses(tailor, trace):
        window = next((w for w in windows if w[1] <= time_ns < w[2] and pid not in w[3]), None)
        s = said.get((time_ns, tid))
        if not window or not s:
            continue
        t = tally[window[0].query]
        t["samples"] += 1
        if not node:
            t["no witness"] += 1
            continue
        t["witness"] += 1
        if (pid, node) not in above:
            t["stale witness"] += 1
            continue
        if not s.node or s.in_class():
            t["class" if s.node else "no node"] += 1
            continue
        ids = trees.ids(pid, node, time_ns, lambda i: True)
        if ids is None:
            t["no object"] += 1
            continue
        # both sides to the nearest wrapped node
        mine = [s.node_id]
        if not is_wrapped(mine):
            mine = next((trees.ids(pid, a, time_ns, is_wrapped) for (p, a), lives in trees.at.items()
                         if p == pid and any(s.node_id in x[2] for x in lives)), None)
        theirs = trees.ids(pid, node, time_ns, is_wrapped)
        if mine and theirs and set(mine) & set(theirs):
            t["agree"] += 1
        else:
            t["differ"] += 1
            wrong[window[0].query, s.node, ", ".join(name_of[i] for i in theirs or [] if i in name_of), s.method, s.function] += 1
    return tally, wrong


@contextlib.contextmanager
def recorded(b, way, trace, settings):
    words = [b.tailor, "run", "-q", "-o", trace, "-r", str(b.rate), "--"] if way == "agent" else []
    with b.c.server(tailor=words, settings=settings) as server:
        if way == "agent":
            yield server
            return
        p = subprocess.Popen([b.tailor, "attach", "-q", "-o", trace, "-r", str(b.rate), str(server.pid)], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        cluster.wait_for("tailor attach records", lambda: p.poll() is not None or b.records(trace))
        yield server
        p.send_signal(signal.SIGINT)
        said = p.communicate()[0]
        if p.returncode:
            raise cluster.Failed(f"tailor attach: exit {p.returncode}: {said}")


def check(b, modes, ways):
    so, why = build(b.c)
    if not so:
        print(f"truth: not compared: {why}")
        return []
    short, total, all_wrong = [], collections.Counter(), collections.Counter()
    print(f"\n{'query':6}{'way':7}{'jit':4}{'w':2}{'samples':>8}{'witness':>8}{'on node':>8}{'agree %':>9}")
    for way, (jit, workers) in itertools.product(ways, modes):
        folder = b.c.writable(f"witness-{way}-{jit}-{workers}")
        trace = f"{b.traces}/truth-{way}-{jit}-{workers}.tlr"
        windows = []
        with recorded(b, way, trace, {"shared_preload_libraries": so, "witness.folder": folder}) as server:
            others = server.background()
            for q, text in b.texts.items():
                with b.c.session("truth " + q, nodes.options(jit, workers)) as s:
                    begin = nodes.now()
                    b.repeat(s, text, begin + int(b.seconds * 1e9))
                    windows.append((nodes.Row(q, "truth", jit, workers), begin, nodes.now(), others))
        tally, wrong = compare(b.tailor, trace, windows, folder)
        all_wrong += wrong
        for q, t in tally.items():
            total += t
            compared = t["agree"] + t["differ"]
            print(f"{q:6}{way:7}{jit:4}{workers!s:2}{t['samples']:8}{t['witness']:8}{compared:8}"
                  f"{nodes.percent(t['agree'], compared):>9}", flush=True)
    compared = total["agree"] + total["differ"]
    print(f"{'total':19}{total['samples']:8}{total['witness']:8}{compared:8}{100 * total['agree'] / max(compared, 1):9.3f}  " +
          ", ".join(f"{k} {v}" for k, v in sorted(total.items()) if k in ("class", "no node", "no object", "stale witness")))
    for (q, mine, theirs, method, function), n in all_wrong.most_common(8):
        print(f"  {n:6} {q}: {mine}, but {theirs or 'none'} ({method}, in {function})")
    if not compared:
        short.append("truth: no sample could be compared")
    elif 100 * total["agree"] / compared < WANTED:
        short.append(f"truth: {100 * total['agree'] / compared:.3f} % of {compared} samples on the witness's node, wanted {WANTED}")
    return short
