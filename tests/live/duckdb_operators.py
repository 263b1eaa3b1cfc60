# SPDX-License-Identifier: MIT
"""See duckdb-operators.sh.  duckdb_operators.py BUILD FOLDER"""
import os
import re
import subprocess
import sys

sys.path[:0] = ["tests", "tests/duckdb", "tests/postgres"]
import duck
import evidence
import profile

SAMPLES = 400
# Of a query's samples in tasks; its small data have more work between operators than large ones.  96 to 98 % are, and 89 to 94 % were where a
# pipeline's executor and the states that it destroys were no operator's.
WANTED = 93
# A block is a recording of all queries.  It has few samples, so one of three may fall short; if operators are not found, all do.
RIGHT = 0.8
faults = []


def fail(sentence):
    faults.append(sentence)


def named(d, trace):
    return {c["name"] for c in profile.report(d.tailor, trace)["components"] if c["level"] == "operator"}


def check_operators(d, texts):
    def block(_):
        rows, agrees = [], True

        def record(seconds):
            rows[:] = d.operators(texts, 2, seconds, d.folder + "/queries.tlr")
            return min(r.tasks for r in rows)

        evidence.gather(SAMPLES, record)
        for r in rows:
            if not r.same:
                fail(f"{r.query}: its rows are not those of a program that nothing profiles")
            print(f"{r.query}: {r.found} of {r.tasks} samples of tasks on an operator; {r.reasons.most_common(5)}")
            agrees &= 100 * r.found >= WANTED * r.tasks
        return agrees

    claim = f"{WANTED} % of each query's samples in tasks are on an operator"
    if not evidence.decide(claim, block, RIGHT, evidence.SURE):
        fail(claim)
    for sentence in profile.faults_of_store(d.tailor, d.folder + "/queries.tlr"):
        fail(sentence)
    names = named(d, d.folder + "/queries.tlr")
    if duck.PROFILING not in names:
        fail(f"what the agent does in tasks has no name: {sorted(names)}")
    for q, text in texts.items():
        for path in d.explained(text, 2, 1)[0]:
            if path[-1] not in names:
                fail(f"{q}: EXPLAIN has the operator `{path[-1]}`, the trace has not: {sorted(names)}")


def check_statements(d):
    """Of many kinds; some fail."""
    script = open(duck.HERE + "/statements.sql").read().replace("FOLDER", d.folder)
    bare, recorded = (re.sub(r"repeated \S+ \S+ \S+", "repeated", out) for out in (d.run(script), d.run(script, d.folder + "/statements.tlr")))
    if bare != recorded:
        fail(f"statements: expected\n{bare}\ngot\n{recorded}")
    said = subprocess.run([d.tailor, "report", d.folder + "/statements.tlr"], capture_output=True, text=True).stdout
    if "queries, pipelines and operators registered" not in said or "operators of a plan unavailable" in said:
        fail(f"statements: expected the notice that DuckDB is adapted, and no other:\n{said}")


def check_node(d, texts):
    binding, trace = os.path.dirname(d.library) + "/duckdb.node", d.folder + "/node.tlr"
    command = ["node", duck.HERE + "/node.js", binding, d.database, "0.2"]
    text = "\n;;\n".join(texts.values())
    try:
        bare = subprocess.run(command, input=text, capture_output=True, text=True)
    except OSError:
        bare = None
    if not bare or bare.returncode:
        print("Node is not here, or its version cannot load the binding")
        return
    p = subprocess.run([d.tailor, "run", "-q", "-o", trace, "--", *command], input=text, capture_output=True, text=True)
    if p.returncode or p.stderr:
        fail(f"Node: exit {p.returncode}: {p.stderr}")
    elif "SEQ_SCAN tpch.main.lineitem" not in named(d, trace):
        fail(f"Node: no operators: {sorted(named(d, trace))}")


def main():
    build, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    d = duck.Duck(build, folder, 0.05, evidence.allowed_rate(4000))
    texts = duck.queries("q01 q03 q18")
    check_statements(d)
    check_node(d, texts)
    check_operators(d, texts)
    for sentence in faults:
        print(sentence)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
