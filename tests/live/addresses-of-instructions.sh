#!/bin/bash
# SPDX-License-Identifier: MIT
# What an instruction of generated code is about to touch, computed from its bytes and the sampled registers, lies in the buffer that it
# reads: the engine's IR loads columns from constant addresses, and at least 99 % of the addresses of such loads must lie in a column, 95 %
# in the one of their line (the compiler gives some loads their neighbour's line).
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timeout 120 "$B/tailor" run -q -o "$dir/t.tlr" --registers all -- \
	"$B/engine" --query q6 --scale 0.2 --threads 2 --seconds 2 >"$dir/log" 2>&1 ||
	{ echo "tailor run --registers all -- engine --query q6: failed"; cat "$dir/log"; exit 1; }
/usr/bin/python3 - "$B/tailor" "$dir/t.tlr" <<'END'
import csv, io, json, re, subprocess, sys

tailor, trace = sys.argv[1:]
def run(*arguments):
    return subprocess.run([tailor, *arguments, trace], capture_output=True, text=True, check=True).stdout
ir = {r["line"]: r["text"].strip() for r in json.loads(run("report", "--view", "ir", "--json", "--top", "0"))["tables"]["ir"]}
code = {r["address"]: r for r in json.loads(run("report", "--view", "asm", "--json", "--top", "0"))["tables"]["asm"]}
buffers = {}  # line of a load -> where its column begins
for line, text in ir.items():
    load = re.match(r"%\w+ = load i64, i64\* (%\w+),", text)
    while load and line > 0:
        at = re.match(re.escape(load[1]) + r" = getelementptr i64, i64\* inttoptr \(i64 (\d+) to i64\*\)", ir.get(line, ""))
        if at:
            buffers[next(n for n in ir if ir[n] is text)] = int(at[1])
            break
        line -= 1
ROWS = int(0.2 * 6001215 * 1.05)
inside, other, outside = 0, 0, []
for r in csv.DictReader(io.StringIO(run("export", "--format", "csv"))):
    instruction = code.get(int(r["ip"], 16), {"text": "", "line": 0})
    text = instruction["text"]
    address = int(r["address"], 16)
    if not r["file"].endswith(".ll") or not address or int(r["line"]) not in buffers or not re.search(r"\[(?!rsp|rbp)", text):
        continue  # no load of a column, or its spill to the stack
    if instruction["line"] != int(r["line"]):
        continue  # it has no line of its own, and goes by its neighbour's
    start = buffers[int(r["line"])]
    if start <= address < start + 8 * ROWS:
        inside += 1
    elif any(b <= address < b + 8 * ROWS for b in buffers.values()):
        other += 1
    else:
        outside.append(f"{text}: {address:#x}, column at {start:#x}")
total = inside + other + len(outside)
print(f"FIGURE computed addresses of column loads: {inside} of {total} in their column, {other} in another, {len(outside)} in none")
if total < 100:
    sys.exit(f"expected at least 100 samples of loads with an address, got {total}")
if inside < 0.95 * total or inside + other < 0.99 * total:
    sys.exit("expected at least 95 % in their column, 99 % in one; elsewhere:\n" + "\n".join(outside[:10]))
END
