#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""make check-duckdb: operators of DuckDB's queries, held against what is known of them by other means.

check.py BUILD, and in the environment, where not all is wanted:
    PARTS="operators rank node wheels"   VERSIONS="2.0.1 1.5.6" (of wheels)   QUERIES="q01 q03 q18" (all: every query of TPC-H; of rank: all)   THREADS="1 2"
    SCALE=1   SECONDS=3 (of each query)   RATE=4000 (samples a second)   LIBDUCKDB=FILE (another library)
"""
import os
import subprocess
import sys
import tempfile

import duck
import rank
import wheels

FEW = 200
WANTED, WANTED_RANK = 97, 0.95
RUNS = 6  # of EXPLAIN: the first one reads from files, and the least times are taken


def percent(part, whole):
    return f"{100 * part / whole:6.2f}" if whole else "     -"


def operators(d, texts, threads, seconds):
    short = []
    print(f"\n{'query':6}{'threads':>8}{'samples':>9}{'query %':>9}{'tasks':>8}{'operator %':>12}{'between %':>11}  samples of tasks by thread")
    rows = [r for t in threads for r in d.operators(texts, t, seconds, f"{d.folder}/operators-{t}.tlr")]
    for r in rows:
        print(f"{r.query:6}{r.threads:8}{r.samples:9}{percent(r.in_query, r.samples):>9}{r.tasks:8}{percent(r.found, r.tasks):>12}"
              f"{percent(r.between, r.tasks):>11}  {' '.join(str(n) for _, n in sorted(r.by_thread.items()))}"
              f"{'' if r.same else '  ROWS DIFFER'}")
        if not r.same:
            short.append(f"{r.query}, {r.threads} threads: its rows are not those of a program that nothing profiles")
        if r.tasks >= FEW and 100 * r.found < WANTED * r.tasks:
            short.append(f"{r.query}, {r.threads} threads: {percent(r.found, r.tasks).strip()} % of {r.tasks} samples of tasks on an operator, "
                         f"wanted {WANTED}; none: {dict(r.reasons.most_common(3))}")
    tasks, found = sum(r.tasks for r in rows), sum(r.found for r in rows)
    print(f"all: {percent(found, tasks).strip()} % of {tasks} samples of tasks on an operator")
    return short


def ranks(d, texts, threads, seconds):
    trace, pooled, itself = f"{d.folder}/rank.tlr", [], []
    print(f"\n{'query':6}{'operators':>10}{'found':>6}{'correlation':>12}  with their processor time by EXPLAIN (ANALYZE), {threads} thread(s)")
    sampled = d.sampled(trace, d.repeat(texts, threads, seconds, trace))
    for q, text in texts.items():
        runs = d.explained(text, threads, RUNS)
        pairs, missing = duck.correlation(duck.least(runs), sampled[q])
        itself += duck.correlation(duck.least(runs[0::2]), duck.least(runs[1::2]))[0]
        pooled += pairs
        if os.environ.get("VERBOSE"):
            print("".join(f"    {100 * a:6.1f} {100 * b:6.1f}\n" for a, b in pairs), end="")
        print(f"{q:6}{len(pairs):10}{len(pairs) - len(missing):6}{rank.spearman(pairs):12.3f}"
              f"{'  not found: ' + ', '.join(' > '.join(p[-2:]) for p in missing) if missing else ''}")
    r = rank.spearman(pooled)
    print(f"{'all':6}{len(pooled):10}{'':6}{r:12.3f}")
    print(f"of EXPLAIN's own times, every other run beside the others: {rank.spearman(itself):.3f}")
    return [f"rank: correlation {r:.3f} over {len(pooled)} operators, wanted {WANTED_RANK}"] if r < WANTED_RANK else []


def node(d, texts, seconds):
    """The same library in Node."""
    binding, trace = os.path.dirname(d.library) + "/duckdb.node", d.folder + "/node.tlr"
    if subprocess.run(["which", "node"], capture_output=True).returncode or not os.path.exists(binding):
        print("\nNode: not here, or the library has no binding beside it")
        return []
    p = subprocess.run([d.tailor, "run", "-q", "-r", str(d.rate), "--stack", "16384", "-o", trace, "--", "node", duck.HERE + "/node.js", binding,
                        d.database, str(seconds)], input="\n;;\n".join(texts.values()), capture_output=True, text=True)
    if p.returncode:
        return [f"Node: exit {p.returncode}: {p.stderr}"]
    in_task = d.in_tasks(trace)
    all_ = on = tasks = found = 0
    for s in duck.samples(d.tailor, trace):
        all_ += 1
        on += bool(s["query"])
        if duck.is_of_task(s, in_task):
            tasks += 1
            found += duck.on_operator(s)
    print(f"\nNode: {all_} samples, {percent(on, all_).strip()} % in a query; {percent(found, tasks).strip()} % of {tasks} samples of tasks on an "
          "operator")
    return [] if tasks >= FEW and 100 * found >= WANTED * tasks else [f"Node: fewer than {WANTED} % of samples of tasks are on an operator"]


def main():
    build = os.path.abspath(sys.argv[1])
    parts = os.environ.get("PARTS", "operators rank node wheels").split()
    names = os.environ.get("QUERIES", "q01 q03 q18")
    texts = duck.queries("" if names == "all" else names)
    threads = [int(t) for t in os.environ.get("THREADS", "1 2").split()]
    seconds = float(os.environ.get("SECONDS", 3))
    short = []
    with tempfile.TemporaryDirectory(prefix="tailor-duckdb-") as folder:
        if set(parts) - {"wheels"}:
            p = subprocess.run([duck.HERE + "/fetch.sh", build])
            if p.returncode:
                return p.returncode
            d = duck.Duck(build, folder, float(os.environ.get("SCALE", 1)), int(os.environ.get("RATE", 4000)))
        if "operators" in parts:
            short += operators(d, texts, threads, seconds)
        if "rank" in parts:
            short += ranks(d, duck.queries("") if "QUERIES" not in os.environ else texts, threads[0], seconds)
        if "node" in parts:
            short += node(d, texts, seconds)
        if "wheels" in parts:
            short += wheels.wheels(build, folder, os.environ.get("VERSIONS", "2.0.1 1.5.6 1.4.5 1.3.2 1.2.2").split(), seconds)
    for sentence in short:
        print(sentence)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
