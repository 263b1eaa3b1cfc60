# SPDX-License-Identifier: MIT
"""Self times of nodes by samples beside those by EXPLAIN ANALYZE: their correlation in rank."""
import collections
import re

import nodes
import profile

SHARE = 0.02
WANTED = 0.95
MIN_QUERIES = 10
LINE = re.compile(r"^(\s*)(?:->\s+)?(\S.*?)\s+\(actual time=([\d.]+)\.\.([\d.]+) rows=\d+ loops=(\d+)\)")
SUBPLAN = re.compile(r"^\s*(?:SubPlan|InitPlan|CTE) ")


def plain(name):
    """As tailor names it, too: without the alias behind a relation's name."""
    return re.sub(r"( on \S+) \S+$", r"\1", name)


def explained(text):
    """{path of names from the root: self time} of EXPLAIN (ANALYZE)'s text."""
    stack, total, below = [], {}, collections.Counter()
    times = collections.Counter()
    nr = 0
    paths = {}
    for line in text.splitlines():
        m = LINE.match(line)
        if not m:
            continue
        indent, name, loops = len(m.group(1)), plain(m.group(2)), int(m.group(5))
        while stack and stack[-1][0] >= indent:
            stack.pop()
        nr += 1
        paths[nr] = (paths[stack[-1][1]] if stack else ()) + (name,)
        total[nr] = float(m.group(4)) * loops
        if stack:
            below[stack[-1][1]] += total[nr]
        stack.append((indent, nr))
    for n, path in paths.items():
        times[path] += max(0.0, total[n] - below[n])
    return times


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2
        i = j + 1
    return out


def spearman(pairs):
    if len(pairs) < 2:
        return 0.0
    a, b = ranks([p[0] for p in pairs]), ranks([p[1] for p in pairs])
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    up = sum((x - ma) * (y - mb) for x, y in zip(a, b))
    down = (sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b)) ** 0.5
    return up / down if down else 0.0


def tree_paths(report):
    """{node's id: path of names from the root}, by the edges of the plan."""
    names = {c["id"]: plain(c["name"]) for c in report["components"] if c["level"] == "node"}
    upper = {e["from"]: e["to"] for e in report["edges"] if e["level"] == "node"}
    paths = {}
    for n in names:
        path, at = [], n
        while at in names and len(path) < 100:
            path.append(names[at])
            at = upper.get(at)
        paths[n] = tuple(reversed(path))
    return paths


def check(b):
    trace = f"{b.traces}/rank.tlr"
    explain, windows = {}, []
    with b.c.server(tailor=[b.tailor, "run", "-q", "-o", trace, "-r", str(b.rate), "--"]) as server:
        others = server.background()
        for q, text in b.texts.items():
            with b.c.session("rank " + q, nodes.options("off", 0)) as s:
                s.run(text)
                explain[q] = sum((explained(s.run("explain (analyze, costs off) " + text)) for _ in range(3)), collections.Counter())
                begin = nodes.now()
                b.repeat(s, text, begin + int(b.seconds * 1e9))
                windows.append((q, begin, nodes.now()))
    paths = tree_paths(profile.report(b.tailor, trace))
    sampled = {q: collections.Counter() for q in b.texts}
    for s in profile.samples(b.tailor, trace):
        if s.pid in others or not s.node or s.in_class():
            continue
        q = next((w[0] for w in windows if w[1] <= s.time_ns < w[2]), None)
        if q:
            sampled[q][paths.get(s.node_id, (plain(s.node),))] += 1
    pooled, counted = [], 0
    print(f"\n{'query':6}{'nodes':>6}{'found':>6}{'correlation':>12}")
    for q in b.texts:
        all_time, all_samples = sum(explain[q].values()), sum(sampled[q].values())
        if not all_time or not all_samples:
            continue
        pairs = [(t / all_time, sampled[q][path] / all_samples) for path, t in explain[q].items()
                 if t / all_time >= SHARE or sampled[q][path] / all_samples >= SHARE]
        pooled += pairs
        counted += 1
        print(f"{q:6}{len(pairs):6}{sum(1 for p in pairs if p[1]):6}{spearman(pairs):12.3f}")
    r = spearman(pooled)
    print(f"{'all':6}{len(pooled):6}{sum(1 for p in pooled if p[1]):6}{r:12.3f}")
    short = []
    if counted < MIN_QUERIES and len(b.texts) >= MIN_QUERIES:
        short.append(f"rank: only {counted} queries have samples on nodes")
    elif r < WANTED:
        short.append(f"rank: correlation {r:.3f} over {len(pooled)} nodes of {counted} queries, wanted {WANTED}")
    return short
