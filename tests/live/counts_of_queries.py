# SPDX-License-Identifier: MIT
# tests/live/counts_of_queries.py BUILD DIR: exit 1 and a sentence where the counts of a query are not what they must be.
import json, subprocess, sys

B, d = sys.argv[1:]
QUERIES = ["fig9", "fig10a", "fig10b", "q1", "q3", "q3-groupjoin", "q6", "q16", "q18", "pagerank", "calibrate", "calibrate-inline"]


def output(command):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, text=True)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: exit status {p.returncode}: {p.stderr}")
    return p.stdout


def increments(said):
    return next(int(line.split()[-1]) for line in said.splitlines() if line.startswith("counters: "))


def record(query, how, *more):
    trace = f"{d}/{how}.tlr"
    said = output([B + "/tailor", "run", "-q", "-r", "100", "-o", trace, "--", B + "/engine", "--query", query, "--scale", "0.02",
                   "--count", how, "--check", *more])
    return trace, said


def executions(trace, query):
    page = json.loads(output([B + "/tailor", "report", "--mark", "all", "--view", "calls", "--view", "plan", "--json", trace]))
    wrong = [note for note in page.get("notes", []) if "contradict" in note]
    if wrong:
        sys.exit(f"{query}: {wrong}")
    plan = {row["id"]: row["executions"] for row in page["tables"]["plan"] if row["id"]}
    root = next(row["executions"] for row in page["tables"]["plan"] if row["depth"] == 0)
    rows = {row["id"]: row["actual_rows"] for row in page["tables"]["rows"]}
    return plan, rows, page["tables"]["functions"], root


# Every block has at least one line, its branch: what all lines say is what all blocks say.
def blocks(trace):
    page = json.loads(output([B + "/tailor", "report", "--view", "ir", "--json", trace]))
    return {row["line"]: row["executions"] for row in page["tables"]["ir"] if row["executions"] is not None}


def check(query, *more):
    all_of_them, said = record(query, "all", *more)
    increments_all = increments(said)
    plan_all, rows, functions_all, root = executions(all_of_them, query)
    result = next(int(line.split()[1]) for line in said.splitlines() if line.startswith(query + ": "))
    if root != result and query != "pagerank":
        sys.exit(f"{query} {more}: the result has {result} rows, as the naive evaluation's, and its operator {root} executions")
    lines_all = blocks(all_of_them)
    minimal, said = record(query, "minimal", *more)
    plan_minimal, _, functions_minimal, _ = executions(minimal, query)
    lines_minimal = blocks(minimal)
    if lines_all != lines_minimal:
        differ = [(k, v, lines_minimal.get(k)) for k, v in lines_all.items() if v != lines_minimal.get(k)]
        sys.exit(f"{query} {more}: {len(differ)} lines have other executions where the least is counted: {differ[:5]}")
    if plan_all != plan_minimal or [(f["name"], f["executions"]) for f in functions_all] != [(f["name"], f["executions"])
                                                                                             for f in functions_minimal]:
        sys.exit(f"{query} {more}: operators or functions differ: {plan_all} and {plan_minimal}")
    if "unroll" not in str(more) and "vector" not in str(more):
        wrong = {o: (plan_all[o], rows[o]) for o in plan_all if plan_all[o] is not None and plan_all[o] != rows[o]}
        if wrong or not any(plan_all.values()):
            sys.exit(f"{query} {more}: executions and rows of operators differ: {wrong or plan_all}")
    ratio = increments(said) / increments_all
    print(f"{query} {' '.join(more)}: {len(lines_all)} lines agree; increments {increments(said)} of {increments_all}: {100 * ratio:.1f} %")
    return increments(said), increments_all


sums = [check(query, "--threads", "2" if query != "pagerank" else "1") for query in QUERIES]
for query, (least, most) in zip(QUERIES, sums):
    if 3 * least > most:
        sys.exit(f"{query}: {least} increments where the least is counted are more than a third of {most}")
check("q3", "--threads", "1", "--optimize", "inline,cse,fold,eliminate,fuse")
check("q3", "--threads", "1", "--outline")
check("q6", "--threads", "2", "--optimize", "vector,unroll,llvm")
least, most = (sum(s[i] for s in sums) for i in (0, 1))
print(f"FIGURE increments of --count minimal: {100 * least / most:.1f} % of those of --count all, over {len(QUERIES)} queries")
