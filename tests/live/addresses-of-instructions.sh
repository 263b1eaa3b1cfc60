#!/bin/bash
# SPDX-License-Identifier: MIT
# What an instruction of generated code is about to touch, computed from its bytes and the sampled registers, lies in the buffer that it
# reads: the engine's IR loads columns from constant addresses, and at least 99 % of the addresses of such loads must lie in the column of
# their line (or in one whose load has no line of its own: the compiler gives some loads their neighbour's).
. tests/live/begin.bash
judge /usr/bin/python3 - "$B" "$dir/t.tlr" "$(allowed_rate 40000)" <<'PYTHON'
import collections, csv, io, json, re, subprocess, sys
sys.path.insert(0, "tests")
from evidence import SURE, decide
B, trace, rate = sys.argv[1:]
SCALE, SAMPLES = 0.1, 100
BYTES = 8 * int(SCALE * 6001215 * 1.05)  # of a column
executions = 150

def run(*command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: expected exit 0, got {p.returncode}: {p.stderr}")
    return p.stdout

def columns(ir):
    """Line of a load -> where its column begins."""
    buffers = {}
    for load_line, text in ir.items():
        load = re.match(r"%\w+ = load i64, (?:i64\*|ptr) (%\w+),", text)
        for line in range(load_line, 0, -1) if load else ():
            at = re.match(re.escape(load[1]) + r" = getelementptr i64, (?:i64\*|ptr) inttoptr \(i64 (\d+) to (?:i64\*|ptr)\)",
                          ir.get(line, ""))
            if at:
                buffers[load_line] = int(at[1])
                break
    return buffers

# A block is a recording.  It agrees if the claim is true: an instruction's address does not depend on when it is sampled, and none of
# thousands is elsewhere.  If addresses are computed wrongly (another register, no displacement), those of an instruction are all elsewhere:
# one block that agrees is enough.
def block(nr):
    global executions
    run(f"{B}/tailor", "run", "-q", "-o", trace, "--registers", "all", "-r", rate, "--",
        f"{B}/engine", "--query", "q6", "--scale", str(SCALE), "--threads", "2", "--repeat", str(executions))
    def view(name):
        report = json.loads(run(f"{B}/tailor", "report", "--view", name, "--json", "--top", "0", trace))
        return report.get("tables", {}).get(name, [])
    buffers = columns({r["line"]: r["text"].strip() for r in view("ir")})
    code = {r["address"]: r for r in view("asm")}
    if not code:  # not one sample of generated code
        executions *= 2
        return None
    if len(buffers) < 4:
        sys.exit(f"expected that q6 loads four columns, got {buffers}")
    # instructions that load a column, sampled or not, and no spill to the stack
    listed = {ip: c["line"] for ip, c in code.items() if c["line"] in buffers and re.search(r"\[(?!rsp|rbp)", c["text"])}
    lines = collections.Counter(listed.values())
    loads = collections.defaultdict(collections.Counter)  # instruction -> addresses
    for r in csv.DictReader(io.StringIO(run(f"{B}/tailor", "export", "--format", "csv", trace))):
        ip, address = int(r["ip"], 16), int(r["address"], 16)
        # (an instruction that has no line of its own goes by its neighbour's)
        if ip in listed and address and r["file"].endswith(".ll") and listed[ip] == int(r["line"]):
            loads[ip][address] += 1
    right, wrong = 0, collections.Counter()
    for ip, addresses in loads.items():
        line = listed[ip]
        allowed = [buffers[line]] + ([b for l, b in buffers.items() if l not in lines] if lines[line] > 1 else [])
        # all of them in one and the same of these
        column = max(allowed, key=lambda b: sum(n for a, n in addresses.items() if b <= a < b + BYTES))
        for a, n in addresses.items():
            if column <= a < column + BYTES:
                right += n
            else:
                wrong[f"{code[ip]['text']}, of line {line}: {a:#x}, column at {column:#x}"] += n
    total = right + sum(wrong.values())
    print(f"{'FIGURE ' if nr == 0 else ''}computed addresses of column loads: {right} of {total} in their column, "
          f"of {len(loads)} instructions, of {len(listed)} of {len(lines)} lines that there are")
    if total < SAMPLES:
        executions *= 2
        return None
    if right < 0.99 * total:
        print("\n".join(f"{n} x {text}" for text, n in wrong.most_common(5)))
        return False
    return True

sys.exit(not decide("99 % of the computed addresses of column loads are in their column", block, wrong=SURE))
PYTHON
finish
