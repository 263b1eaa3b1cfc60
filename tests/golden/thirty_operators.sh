#!/bin/bash
# SPDX-License-Identifier: MIT
# A plan of thirty operators of three names: --component takes each by the label that reports give it, and it alone; no two rows of a view
# are alike, as text, JSON and CSV.
set -u
B=$1
/usr/bin/python3 - "$B/tailor" "$B/golden-thirty.tlr" <<'END_OF_PYTHON'
import json, re, subprocess, sys
sys.path.insert(0, "tests/golden")
from thirty import NAMES, NR, make

tailor, path = sys.argv[1:]
bad = 0
make(path)

def report(*arguments):
    p = subprocess.run([tailor, "report", *arguments, path], capture_output=True, text=True, env={"LC_ALL": "C.UTF-8", "COLUMNS": "200"})
    if p.returncode:
        sys.exit(f"tailor report {' '.join(arguments)}: exit {p.returncode}: {p.stderr}")
    return p.stdout

def fail(what):
    global bad
    bad = 1
    print(what)

(rows,) = json.loads(report("--view", "components", "--top", "0", "--json"))["tables"].values()
if sorted(r["samples"] for r in rows) != [10 + i for i in range(1, NR + 1)]:
    fail(f"--view components: expected {NR} operators of 11 to {10 + NR} samples, got {rows}")
for row in rows:
    chosen = json.loads(report("--component", "operator:" + row["name"], "--view", "components", "--json"))
    if chosen["samples"] != row["samples"]:
        fail(f"--component 'operator:{row['name']}': expected {row['samples']} samples, got {chosen['samples']}")
for name in NAMES:
    chosen = json.loads(report("--component", "operator:" + name, "--view", "components", "--json"))
    if chosen["samples"] != sum(r["samples"] for r in rows if r["name"].startswith(name)):
        fail(f"--component operator:'{name}': expected all of that name, got {chosen['samples']} samples")
for view in "plan", "components", "callers", "callees", "tree", "timeline", "code":
    for table, of in json.loads(report("--view", view, "--top", "0", "--json")).get("tables", {}).items():
        names = [tuple(str(v) for k, v in r.items() if isinstance(v, str)) for r in of]
        if view in ("plan", "components") and len(set(names)) < len(names):
            fail(f"--view {view}, table {table}: expected no two rows alike, got {names}")
    seen = set()
    for line in report("--view", view, "--top", "0").split("\n"):
        if not line.strip():
            seen = set()
        elif line.startswith(" ") and any(n in line for n in NAMES):
            if line in seen:
                fail(f"--view {view}: expected no two rows alike, got '{line}' twice")
            seen.add(line)
plan = [l for l in report("--top", "0").split("Plan of")[1].split("\n\n")[0].split("\n")[2:] if any(n in l for n in NAMES)]
labels = [re.search(r"(hash join|scan|sort).*", l)[0] for l in plan]
if len(labels) != NR or len(set(labels)) != NR:
    fail(f"report: expected {NR} operators with labels of their own, got {labels}")
sys.exit(bad)
END_OF_PYTHON
