#!/bin/bash
# SPDX-License-Identifier: MIT
# OpenTelemetry's profiles, read back by protoc: each index is in its table, no entry is missing or superfluous, and what receivers demand
# else; of each event they have as much as the report; operators are callers of the code that works for them.
set -u
command -v protoc >/dev/null || { echo "skipped, because protoc is missing (Debian: protobuf-compiler)"; exit 77; }
out=$1/golden-otlp
mkdir -p "$out"
/usr/bin/python3 - "$1/tailor" "$out" <<'END'
import json, re, subprocess, sys
sys.path.insert(0, "tests/golden")
from otlp import Profiles, HERE

tailor, out = sys.argv[1:]
bad = []

def expect(holds, sentence):
    if not holds:
        bad.append(sentence)
        print(sentence)

def run(*arguments, **more):
    return subprocess.run([tailor, *arguments], check=True, capture_output=True, **more).stdout

# the numbers that it writes are the pinned version's
proto, message = {}, None
for line in open(f"{HERE}/otlp.proto"):
    if found := re.match(r"message (\w+)", line):
        message = found[1]
    for field, n in re.findall(r"\w+ (\w+) = (\d+);", line):
        proto[message, field] = int(n)
fields = {(m, f): int(n) for m, f, n in re.findall(r"X\((\w+), (\w+), (\d+)\)", open("analyzer/wire/otlp_fields.h").read())}
expect(len(fields) > 40, f"otlp_fields.h has {len(fields)} fields")
expect(all(proto.get(k) == n for k, n in fields.items()), f"other numbers: {[k for k, n in fields.items() if proto.get(k) != n]}")

NAMES = {"task-clock": "cpu", "cpu-clock": "cpu", "context-switches": "off_cpu"}
for trace in ("tests/golden/v1.tlr", "tests/golden/v2.tlr"):
    p = Profiles(run("export", "--format", "otlp", trace))
    expect(not p.bad, f"{trace}: {p.bad[:5]}")
    report = json.loads(run("report", "--json", trace))
    wanted = {NAMES.get(e["name"], e["name"]): round(e["weight"]) for e in report["events"] if e["weight"]}
    expect({k[0]: n for k, n in p.sums().items()} == wanted, f"{trace}: expected {wanted}, got {p.sums()}")
    again = Profiles(run("export", "--format", "otlp", trace))
    expect(again.ids == p.ids, f"{trace}: the same profile has another id in the next export")
joins = sum(n for name, n in Profiles(run("export", "--format", "otlp", "tests/golden/v1.tlr")).sums(lambda s: s[3][-2]).items()
            if name == "scan lineitem")
expect(joins == 7 * 3000001, f"expected 7 samples below scan lineitem, got a weight of {joins}")
sys.exit(bool(bad))
END
