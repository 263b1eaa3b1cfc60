# SPDX-License-Identifier: MIT
"""Self times of nodes by samples beside those by EXPLAIN ANALYZE: their correlation in rank."""
import collections
import re

import nodes
import profile

SHARE = 0.02
ROUNDED_MS = 0.0005  # by which a node's time for one loop is off
UNSURE = 0.02  # of a query's time: nodes whose self time rounding leaves less certain are left out
WANTED = 0.95
MIN_QUERIES = 10
RUNS = 6, 24  # of EXPLAIN: at least; at most, where its own times differ
AGREE = 0.99  # between every other run and the others, of one query's nodes
RELIABLE = 0.97  # of all nodes: below that, EXPLAIN is no measure on this machine
SUBPLAN = re.compile(r"^(\s*)((?:SubPlan|InitPlan|CTE) .*)$")
LINE = re.compile(r"^(\s*)(?:->\s+)?(\S.*?)\s+\(actual time=([\d.]+)\.\.([\d.]+) rows=\d+ loops=(\d+)\)")


def plain(name):
    """As tailor names it, too: without the alias behind a relation's name."""
    return re.sub(r"( on \S+) \S+$", r"\1", name)


class Node:
    def __init__(self, path, indent, total, loops):
        self.path, self.indent, self.total, self.loops = path, indent, total, loops
        self.below, self.unsure = 0.0, ROUNDED_MS * loops
        self.lines = []

    def pays_for(self, other):
        self.below += other.total
        self.unsure += ROUNDED_MS * other.loops


def explained(text):
    """[Node] of EXPLAIN (ANALYZE)'s text.  What an InitPlan or a CTE takes is part of the time of the node that needs its result."""
    nodes_, stack, plans, kind = [], [], [], None
    for line in text.splitlines():
        m, s = LINE.match(line), SUBPLAN.match(line)
        if s:
            while stack and stack[-1].indent >= len(s.group(1)):
                stack.pop()
            kind = s.group(2)
        elif m:
            indent, loops = len(m.group(1)), int(m.group(5))
            while stack and stack[-1].indent >= indent:
                stack.pop()
            n = Node((stack[-1].path if stack else ()) + (plain(m.group(2)),), indent, float(m.group(4)) * loops, loops)
            if kind and not kind.startswith("SubPlan"):
                plans.append((kind, n))
            elif stack:
                stack[-1].pays_for(n)
            kind = None
            n.lines.append(line)
            nodes_.append(n)
            stack.append(n)
        elif stack:
            stack[-1].lines.append(line)
    for kind, plan in plans:
        cte, result = re.match(r"CTE (\S+)", kind), re.search(r"\$\d+", kind)
        needs = "CTE Scan on " + cte.group(1) if cte else result.group() if result else None
        users = [n for n in nodes_ if needs and any(re.search(re.escape(needs) + r"(?!\w)", text) for text in n.lines)]
        if len(users) > 1:  # the first one that asks pays for it, and its time has all of that
            users = [n for n in users if n.total >= plan.total]
        if len(users) == 1:
            users[0].pays_for(plan)
        for n in users if len(users) > 1 else []:  # which of them came first?
            n.unsure = float("inf")
    return nodes_


def self_times(runs):
    """{path: the least self time of several runs}: by the clock, where other work on the machine comes on top; and {path: how far rounding
    can be off}."""
    times, unsure = {}, collections.Counter()
    for i in range(len(runs[0])):
        path = runs[0][i].path
        times[path] = times.get(path, 0) + min(max(0.0, r[i].total - r[i].below) for r in runs if i < len(r))
        unsure[path] += runs[0][i].unsure
    return times, unsure


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


def share_pairs(a, b, least):
    whole = [max(sum(x.values()), 1e-9) for x in (a, b)]
    pairs = [(a.get(p, 0) / whole[0], b.get(p, 0) / whole[1]) for p in a]
    return [p for p in pairs if max(p) >= least]


def explain_until_it_agrees(s, text):
    """Runs of EXPLAIN; and the self times by every other one, and by the others."""
    runs = []
    while True:
        runs.append(explained(s.run("explain (analyze, costs off) " + text)))
        if len(runs) < RUNS[0] or len(runs) % 2:
            continue
        halves = [self_times(runs[i::2])[0] for i in range(2)]
        pairs = share_pairs(*halves, SHARE)
        if len(runs) >= RUNS[1] or len(pairs) < 3 or spearman(pairs) >= AGREE:
            return runs, halves


def check(b):
    trace = f"{b.traces}/rank.tlr"
    explain, halves, windows = {}, {}, []
    # samples of an unprivileged user have no kernel time: nothing is to be read from files
    # ... nor is memory to be got from the kernel by each query anew, for its hash tables
    with b.c.server(tailor=[b.tailor, "run", "-q", "-o", trace, "-r", str(b.rate), "--"], settings={"shared_buffers": "512MB"},
                    env={"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"}) as server:
        others = server.background()
        for q, text in b.texts.items():
            with b.c.session("rank " + q, nodes.options("off", 0)) as s:
                s.run(text)
                runs, halves[q] = explain_until_it_agrees(s, text)
                explain[q] = self_times(runs)
                begin = nodes.now()
                b.repeat(s, text, begin + int(b.seconds * 1e9))
                windows.append((q, begin, nodes.now()))
    paths = {n: tuple(map(plain, path)) for n, path in profile.tree_paths(profile.report(b.tailor, trace), "node").items()}
    sampled = {q: collections.Counter() for q in b.texts}
    for s in profile.samples(b.tailor, trace):
        if s.pid in others or not s.node or s.in_class():
            continue
        q = next((w[0] for w in windows if w[1] <= s.time_ns < w[2]), None)
        if q:
            sampled[q][paths.get(s.node_id, (plain(s.node),))] += 1
    pooled, itself, counted, left_out = [], [], 0, 0
    print(f"\n{'query':6}{'nodes':>6}{'found':>6}{'correlation':>12}")
    for q in b.texts:
        times, unsure = explain[q]
        all_time, all_samples = sum(times.values()), sum(sampled[q].values())
        if not all_time or not all_samples:
            continue
        large = [p for p in times if times[p] / all_time >= SHARE or sampled[q][p] / all_samples >= SHARE]
        pairs = [(times[p] / all_time, sampled[q][p] / all_samples) for p in large if unsure[p] / all_time <= UNSURE]
        left_out += len(large) - len(pairs)
        itself += share_pairs(*halves[q], SHARE)
        pooled += pairs
        counted += 1
        print(f"{q:6}{len(pairs):6}{sum(1 for p in pairs if p[1]):6}{spearman(pairs):12.3f}")
    if left_out:
        print(f"{left_out} nodes are left out, because EXPLAIN rounds the time of each of their many loops")
    r = spearman(pooled)
    print(f"{'all':6}{len(pooled):6}{sum(1 for p in pooled if p[1]):6}{r:12.3f}")
    own = spearman(itself)
    print(f"of EXPLAIN's own times, every other run beside the others: {own:.3f}")
    short = []
    if counted < MIN_QUERIES and len(b.texts) >= MIN_QUERIES:
        short.append(f"rank: only {counted} queries have samples on nodes")
    elif r < WANTED and own < RELIABLE:
        print(f"rank: not judged, because EXPLAIN's own times differ here: {own:.3f}, {RELIABLE} is needed")
    elif r < WANTED:
        short.append(f"rank: correlation {r:.3f} over {len(pooled)} nodes of {counted} queries, wanted {WANTED}")
    return short
