#!/bin/bash
# SPDX-License-Identifier: MIT
# A share is the same wherever it is shown: the default report (text and JSON), the views, and the exported samples, of which it is the
# sum of weights.  Traces whose samples weigh differently: taken at a frequency, scaled counters, several events.
set -u
B=$1
[ -e "$B/bench/synthetic" ] || { echo "skipped, because $B/bench/synthetic has not been built (make table)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$B/bench/synthetic" 4000 5 "$dir/turns.tlr" events turns || exit 1
/usr/bin/python3 - "$B/tailor" "$dir/turns.tlr" tests/golden/v1.tlr tests/golden/v2.tlr tests/golden/views/several.tlr <<'END'
import csv, io, json, re, subprocess, sys

tailor, *traces = sys.argv[1:]
bad = compared = 0

def run(*arguments):
    return subprocess.run([tailor, *arguments], capture_output=True, text=True, check=True).stdout

def same(what, expected, got, within=1e-9):
    global bad, compared
    compared += 1
    if abs(expected - got) > within:
        bad = 1
        print(f"{what}: expected {expected}, got {got}")

for trace in traces:
    report = json.loads(run("report", "--json", trace))
    text = run("report", "--top", "60", trace)
    event = report["events"][0]["name"]
    weights = {}
    for r in csv.DictReader(io.StringIO(run("export", "--format", "csv", "--event", event, trace))):
        weights[r["function"]] = weights.get(r["function"], 0) + float(r["weight"]) * float(r["share"])
    total = sum(weights.values())
    view = json.loads(run("report", "--view", "functions", "--top", "0", "--json", trace))["tables"]["functions"]
    shares = {}
    for f in report["functions"]:
        shares[f["name"]] = shares.get(f["name"], 0) + f["share"]
    for name, weight in weights.items():
        same(f"{trace}: function {name}, report --json", weight / total, shares.get(name, 0))
    for row in view:
        if row["symbol"]:
            same(f"{trace}: function {row['name']}, --view functions", shares[row["name"]], row["share"], 1e-6 if len(
                [v for v in view if v["name"] == row["name"]]) == 1 else 1)
    for share, name in re.findall(r"^ *([0-9.]+) % +\d+  (\S+)  (?:\(generated\)|engine)$", text, re.M):
        same(f"{trace}: function {name}, report", 100 * shares[name], float(share), 0.1001)
    # of operators, in the run phase
    plan = {(c["level"], c["name"], c["id"]): c["share"] for c in report["run"]["components"]}
    for level in {c["level"] for c in report["run"]["components"]}:
        rows = json.loads(run("report", "--view", "components", "--level", level, "--top", "0", "--json", trace))["tables"]
        for row in rows[next(iter(rows))]:
            named = [s for (l, n, _), s in plan.items() if l == level and n == row["name"]]
            if len(named) == 1:
                same(f"{trace}: {level} {row['name']}, --view components", named[0], row["share"])
print(f"FIGURE {compared} shares compared")
sys.exit(bad)
END
