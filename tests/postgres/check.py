#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""make check-postgres: plan nodes of a PostgreSQL server, held against what is known of them by other means.

check.py BUILD, and in the environment, where not all is wanted:
    PARTS="nodes truth rank"   QUERIES="q01 q18"   WAYS="agent attach"   JIT="off on"   WORKERS="0 2"
    SCALE=0.2   SECONDS=2 (of each query in each way)   RATE=4000 (samples a second)   KEEP=FOLDER (for the traces)
"""
import os
import shutil
import sys

import cluster
import nodes
import rank
import truth


def words(name, default):
    return os.environ.get(name, default).split()


def main():
    tailor = os.path.abspath(sys.argv[1]) + "/tailor"
    parts = words("PARTS", "nodes truth rank")
    texts = cluster.queries(os.environ.get("QUERIES"))
    ways = words("WAYS", "agent attach")
    modes = [(jit, int(w)) for jit in words("JIT", "off on") for w in words("WORKERS", "0 2")]
    short = []
    try:
        c = cluster.Cluster()
    except LookupError as e:
        print(f"skipped, because {e}")
        return 77
    with c:
        scale = float(os.environ.get("SCALE", 0.2))
        print(f"PostgreSQL {c.version}, TPC-H at scale {scale:g}, run as {c.user}", flush=True)
        c.load(scale)
        b = nodes.Bench(c, tailor, texts, float(os.environ.get("SECONDS", 2)), int(os.environ.get("RATE", 4000)))
        if "nodes" in parts:
            rows = []
            b.bare(modes)
            print(nodes.HEAD)
            for way in ways:
                for jit, workers in modes:
                    for row in (b.agent if way == "agent" else b.attach)(jit, workers):
                        rows.append(row)
                        print(nodes.line(row.query, way, jit, workers, [row]), flush=True)
            nodes.print_total(rows)
            short += nodes.verdict(rows, 98)
        if "truth" in parts:
            short += truth.check(b, modes, ways)
        if "rank" in parts:
            short += rank.check(b)
        if os.environ.get("KEEP"):
            shutil.copytree(b.traces, os.environ["KEEP"], dirs_exist_ok=True)
    for sentence in short:
        print(sentence)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
