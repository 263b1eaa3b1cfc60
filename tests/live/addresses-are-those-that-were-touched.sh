#!/bin/bash
# SPDX-License-Identifier: MIT
# Addresses that are computed from the sampled registers and the instruction's bytes lie in the memory that the instruction really
# touches: in the first execution of a query all named memory is protected, so that each access faults and is written down (witness.c);
# the executions after it are sampled.  Of the samples whose address or whose instruction has to do with named memory, at least 99 % must
# name memory that their instruction was seen to touch.  Whole pages are watched: of instructions that touch nothing but the rest of a page
# at a column's end (the last rounds of a loop) the witness says nothing, and these may be one in twenty.
. tests/live/begin.bash
for query in q6 q3; do
	judge /usr/bin/python3 - "$B" "$dir" $query "$(allowed_rate 40000)" <<'PYTHON'
import collections, csv, os, subprocess, sys
sys.path.insert(0, "tests")
from evidence import SURE, decide
B, directory, query, rate = sys.argv[1:]
SAMPLES = 60
trace, witness, table = (f"{directory}/{name}" for name in ("t.tlr", "witness", "samples"))
# The first execution takes 20 us for each access, so that there are few rows; the others take 25 to 100 us, so that there are many of
# them.  (In q6 few samples are at loads, whose data is in the cache.)
executions = {"q6": 30000, "q3": 3000}[query]

def run(*command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: expected exit 0, got {p.returncode}: {p.stderr[-1000:]}")

# A block is a recording.  It agrees if the claim is true: an instruction whose first execution missed some of the memory that later ones
# touch is one in thousands.  If addresses are computed wrongly, most are in other memory or in none, and each block contradicts: one that
# agrees is enough.
def block(nr):
    global executions
    if os.path.exists(witness):
        os.unlink(witness)
    run(f"{B}/tailor", "run", "-q", "-o", trace, "--registers", "all", "--stack", "0", "-r", rate, "--",
        "env", f"WITNESS={witness}", f"LD_PRELOAD={B}/hosts/libwitness.so:{B}/libtailor.so",
        f"{B}/engine", "--query", query, "--scale", "0.001", "--threads", "1", "--repeat", str(executions))
    run(f"{B}/tailor", "export", "--overwrite", "--format", "csv", "-o", table, trace)
    seen, watched = collections.defaultdict(set), []
    for line in open(witness):
        ip, times, name = line.rstrip("\n").split(" ", 2)
        if ip == "=":
            watched.append((int(times, 16), int(name, 16)))
        else:
            seen[int(ip, 16)].add(name)
    names = set().union(*seen.values())
    if not names:
        sys.exit(f"{query}: expected that the witness sees accesses to named memory, got none")
    right, silent, wrong = 0, 0, collections.Counter()
    for r in csv.DictReader(open(table)):
        ip = int(r["ip"], 16)
        if r["mode"] != "user" or int(r["address"], 16) == 0 or (ip not in seen and r["memory"] not in names):
            continue
        at = int(r["address"], 16)
        if ip not in seen and not any(start <= at < end for start, end in watched):
            silent += 1
        elif r["memory"] in seen.get(ip, ()):
            right += 1
        else:
            wrong[f"{r['function']} at {r['ip']}: {r['address']}, in {r['memory'] or 'nothing'}, touches {sorted(seen.get(ip, ()))}"] += 1
    total = right + sum(wrong.values())
    print(f"{'FIGURE ' if nr == 0 else ''}{query}: {right} of {total} computed addresses are in the memory that their instruction touches, "
          f"of {len(seen)} instructions and {len(names)} named kinds of memory; {silent} more at ends that are not watched")
    if total < SAMPLES:
        executions *= 2
        return None
    if right < 0.99 * total or silent > 0.05 * (total + silent):
        print("\n".join(f"{n} x {t}" for t, n in wrong.most_common(5)))
        return False
    return True

sys.exit(not decide(f"{query}: 99 % of the computed addresses are in memory that their instruction touches", block,
                    wrong=SURE))
PYTHON
done
finish
