# SPDX-License-Identifier: MIT
"""culprits.py BUILD: each loop of tests/hosts/planted.c under tailor, with the events that its machine has; what `--view stalls` says."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from evidence import gather, skip  # noqa: E402

B = os.path.abspath(sys.argv[1])
EVENTS = ["cache-misses", "L1-dcache-load-misses", "dTLB-load-misses", "branch-misses", "L1-icache-load-misses", "page-faults"]
WANTED, LEAST = 2000, 18  # samples of cycles in a recording; of 21 planted causes that must come first
OTHER = {"execution", "not_analyzed", "unexplained"}


def record(trace, events, *command):
    return subprocess.run([f"{B}/tailor", "run", "-q", "-e", ",".join(events), "-o", trace, "--", *command], capture_output=True, text=True)


def can_count(directory, event):
    p = record(f"{directory}/probe.tlr", [event], "true")
    if p.returncode:
        return False
    dump = subprocess.run([f"{B}/tailor", "dump", "--json", f"{directory}/probe.tlr"], capture_output=True, text=True).stdout
    names = [r["fields"]["name"] for r in map(json.loads, dump.splitlines()) if r["record"] == "EVENT"]
    return any(n.startswith(event) for n in names)


def main():
    with tempfile.TemporaryDirectory() as directory:
        if not can_count(directory, "cycles") or not can_count(directory, "instructions"):
            skip("this machine has no cycles or no instructions to count")
        events = ["cycles", "instructions"] + [e for e in EVENTS if can_count(directory, e)]
        print(f"FIGURE events: {', '.join(events)}; llvm-mca: {'yes' if shutil.which('llvm-mca') else 'no'}")
        lines = subprocess.run([f"{B}/hosts/planted"], capture_output=True, text=True, check=True).stdout.splitlines()
        right, planted, bad = 0, 0, []
        for name, cause, function in (line.split() for line in lines):
            trace = f"{directory}/{name}.tlr"
            tables = {}

            def run(seconds):
                p = record(trace, events, f"{B}/hosts/planted", name, str(seconds))
                if p.returncode:
                    sys.exit(f"planted {name}: exit {p.returncode}: {p.stderr}")
                report = subprocess.run([f"{B}/tailor", "report", "--view", "stalls", "--mark", "run", "--json", trace],
                                        capture_output=True, text=True, check=True)
                data = json.loads(report.stdout)
                tables.update(data["tables"])
                return data["samples"]

            gather(WANTED, run)
            causes = [(r["cause_key"], r["at_least"], r["at_most"]) for r in tables["summary"] if r["cause_key"] not in OTHER]
            named = [f["causes"] for f in tables.get("functions", []) if f["name"] == function and f["causes"]]
            first = causes[0][0] if causes else "none"
            said = "; ".join(f"{c} {100 * low:.0f}-{100 * high:.0f} %" for c, low, high in causes[:3])
            if cause == "none":
                ok = not named
            else:
                planted += 1
                ok = first == cause
                right += ok
            print(f"{'ok   ' if ok else 'WRONG'} {name} ({cause}): {said}")
            if not ok:
                bad.append(name)
                if cause == "none":
                    sys.exit(f"{name}: expected no cause, got {named}")
        print(f"FIGURE planted causes that came first: {right} of {planted}{': not ' + ', '.join(bad) if bad else ''}")
        if right < LEAST:
            sys.exit(f"expected at least {LEAST} of {planted} planted causes first, got {right}; see above")


main()
