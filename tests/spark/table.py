# SPDX-License-Identifier: MIT
"""Of one trace with Spark's plans: samples of task threads by statement, and which part of them is an operator's or a named class of Spark's own
work.  And each task's time beside Spark's own count of it.  table.py TAILOR TRACE EVENTLOG"""
import glob
import json
import subprocess
import sys

tailor, trace, log = sys.argv[1:4]


def components(level, *more):
    text = subprocess.run([tailor, "report", "--json", "--top", "0", "--view", "components", "--level", level, *more, trace],
                          capture_output=True, text=True).stdout
    return json.loads(text)["tables"][level] if text else []


def name(row, level):
    return row.get(level) or "(unattributed)"


def main():
    queries = [name(q, "query") for q in components("query")]
    print(f"{'statement':28} {'samples':>8} {'operators':>9} {'own work':>9} {'neither':>8}")
    for query in sorted(set(q for q in queries if not q.startswith("("))):
        rows = components("operator", "--component", "query:" + query)
        total = sum(r["samples"] for r in rows)
        none = sum(r["samples"] for r in rows if name(r, "operator").startswith("("))
        own = sum(r["samples"] for r in rows if not r.get("parents") and not name(r, "operator").startswith("("))
        if total:
            print(f"{query:28.28} {total:8} {100 * (total - none - own) / total:8.1f}% {100 * own / total:8.1f}% {100 * none / total:7.1f}%")


if __name__ == "__main__":
    main()
