#!/bin/bash
# SPDX-License-Identifier: MIT
# Iterations of a query are told apart by time alone (A. Beischl et al., EuroSys 2021, section 4.2.6): what `timeline` finds in the
# samples of pagerank's operators agrees with the MARKs that the engine sets around its iterations, which finding them does not use.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timeout 120 "$B/tailor" run -q -o "$dir/t.tlr" -- \
	"$B/engine" --query pagerank --scale 0.3 --threads 1 --repeat 20 --check >"$dir/log" 2>&1 ||
	{ echo "tailor run -- engine --query pagerank --check: failed"; cat "$dir/log"; exit 1; }
/usr/bin/python3 - "$B/tailor" "$dir/t.tlr" <<'END'
import csv, io, json, statistics, subprocess, sys

tailor, trace = sys.argv[1:]
def run(*arguments):
    return subprocess.run([tailor, *arguments, trace], capture_output=True, text=True, check=True).stdout
runs, begins, whole = {}, {}, {}  # run -> [(begin, end)] of its iterations; begins of marks; run -> (begin, end)
for r in map(json.loads, run("dump", "--json").splitlines()):
    f = r.get("fields", {})
    if r["record"] != "MARK" or f["name"] not in ("iteration", "run"):
        continue
    key = f["name"], f["parent_instance"], f["instance"]
    if f["action"] == 1:
        begins[key] = r["time_ns"]
    elif f["name"] == "run":
        whole[f["instance"]] = (begins[key], r["time_ns"])
    else:
        runs.setdefault(f["parent_instance"], []).append((begins[key], r["time_ns"]))
if len(runs) != 20 or {len(m) for m in runs.values()} != {20}:
    sys.exit(f"expected marks of 20 iterations of each of 20 runs, got {[len(m) for m in runs.values()]}")
# the run that was disturbed least by what else the machine does: with iterations as long as each other, by their marks, and the
# fewest stretches of time without a sample
times = sorted(int(r["time_ns"]) for r in csv.DictReader(io.StringIO(run("export", "--format", "csv"))))
def disturbed(n):
    begin, end = whole[n]
    inside = [begin, *(t for t in times if begin < t < end), end]
    return sum(b - a for a, b in zip(inside, inside[1:]) if b - a > 1000000) / (end - begin)
def uneven(n):
    lengths = [end - begin for begin, end in runs[n]]
    return statistics.pstdev(lengths) / statistics.mean(lengths)
even = min(runs, key=lambda n: disturbed(n) + uneven(n))
marks = runs[even]
if disturbed(even) > 0.03 or uneven(even) > 0.2:
    print(f"skipped, because the machine is busy: of the least disturbed run {100 * disturbed(even):.0f} % of the time went to others, "
          f"and its iterations differ by {100 * uneven(even):.0f} %")
    sys.exit(77)
between = (marks[-1][0] - marks[0][0]) / (len(marks) - 1)
periods = json.loads(run("report", "--view", "timeline", "--mark", f"run#{even}", "--json"))["tables"]["periods"]
print(f"FIGURE {len(marks)} iterations marked, one each {between / 1e6:.2f} ms; found: " +
      ", ".join(f"{p['name']} {p['times']} each {p['period_ns'] / 1e6:.2f} ms" for p in periods))
bad = [p for p in periods if abs(p["period_ns"] / between - 1) > 0.15]
if not {"hash join", "group by"} <= {p["name"] for p in periods}:
    sys.exit(f"expected periods of the hash join and of the group by, got {periods}")
if bad:
    sys.exit(f"expected periods within 15 % of {between:.0f} ns, got {bad}")
if any(abs(p["times"] - len(marks)) > 2 for p in periods if p["name"] in ("hash join", "group by")):
    sys.exit(f"expected {len(marks)} iterations, give or take two, got {periods}")
END
