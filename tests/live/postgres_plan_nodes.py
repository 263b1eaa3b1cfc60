# SPDX-License-Identifier: MIT
"""See postgres-plan-nodes.sh.  postgres_plan_nodes.py BUILD"""
import os
import sys

sys.path[:0] = ["tests", "tests/postgres"]
import cluster
import evidence
import nodes
import profile

QUERIES = "q01 q03 q18"
# Of a query's executor samples.  A node that is not found costs far more than what the machine's load can take from this.
WANTED = {"agent": 90, "attach": 80}
SAMPLES = 100
faults = []


def fail(sentence):
    faults.append(sentence)


def check_names(b):
    """Nodes of the trace beside those of EXPLAIN."""
    with b.c.server(), b.c.session("names", nodes.options("off", 0)) as s:
        lines = [line.split("  (")[0].split("->")[-1].strip() for q in b.texts.values() for line in s.run("explain " + q).splitlines()
                 if "(cost=" in line]
    named = {c["name"] for c in profile.report(b.tailor, b.traces + "/agent-off-0.tlr")["components"] if c["level"] == "node"}
    for line in lines:
        if line not in named:
            fail(f"EXPLAIN has the node `{line}`, the trace has not: {sorted(n for n in named if not n.startswith('('))}")


def check(b, way):
    rows = []

    def record(seconds):
        b.seconds = seconds
        rows[:] = getattr(b, way)("off", 0)
        return min(r.executor for r in rows)

    evidence.gather(SAMPLES, record)
    for r in rows:
        if not r.same:
            fail(f"{r.query}, {way}: its rows are not those of an unprofiled server")
        if 100 * r.found < WANTED[way] * r.executor:
            fail(f"{r.query}, {way}: expected {WANTED[way]} % of {r.executor} executor samples on a node or in a class of work, got {r.found}: "
                 f"{dict(r.reasons)}")
        print(nodes.line(r.query, way, "off", 0, [r]))


def check_errors(b):
    """Queries that end by an error, cursors, queries in functions, and what comes after them."""
    trace = b.traces + "/errors.tlr"
    with b.c.server(tailor=[b.tailor, "run", "-q", "-o", trace, "--"]), b.c.session("errors") as s:
        s.run("create function twice(int) returns bigint language plpgsql as $$ begin return (select count(*) * $1 from nation); "
              "exception when others then return 0; end $$;")
        for text in ("select 1 / (n_nationkey - 20) from nation;", "select twice(n_nationkey / (20 - n_nationkey)) from nation;"):
            try:
                s.run(text)
                fail(f"expected an error of `{text}`")
            except cluster.Failed as e:
                if "division by zero" not in str(e):
                    fail(f"`{text}`: {e}")
        s.send("begin; declare c cursor for select n_nationkey from nation order by 1; fetch 2 from c; savepoint a; select 1/0; "
                    "rollback to a; fetch 1 from c; select sum(twice(n_nationkey)) from nation; commit;")
        got = s.answer().split()
        if [w for w in got if w.isdigit()] != ["0", "1", "2", "7500"]:
            fail(f"cursor and functions: got {got}")
    ended = sum(r["record"] == "OBJECT_END" for r in profile.objects(b.tailor, trace))
    if ended < 25:
        fail(f"expected an OBJECT_END for each of more than 25 queries, got {ended}")


def main():
    try:
        c = cluster.Cluster()
    except LookupError as e:
        evidence.skip(str(e))
    with c:
        if c.version != 15:
            evidence.skip(f"PostgreSQL {c.version} is not a version whose plans are read")
        c.load(0.02)
        b = nodes.Bench(c, os.path.abspath(sys.argv[1]) + "/tailor", cluster.queries(QUERIES), 1, evidence.allowed_rate(4000))
        b.bare([("off", 0)])
        for way in ("agent", "attach"):
            check(b, way)
        check_names(b)
        check_errors(b)
    if faults:
        print("\n".join(faults))
        sys.exit(1)


main()
