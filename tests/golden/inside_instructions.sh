#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples inside of an instruction count with it, beside those at its first byte.
trace=$(mktemp --suffix=.tlr)
trap 'rm -f "$trace"' EXIT
/usr/bin/python3 - "$trace" <<'PYTHON' || exit 1
import sys
sys.path.insert(0, "tests")
from trace_file import RECORDS, SAMPLES, Trace, deltas, leb, record, samples
trace = Trace(record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]]) +
              record("EVENT", 0, 0, "cycles", "cycles", 0, 0, 1000, 0, 0, 0, 0, 0, "cpu", 0))
trace.add(RECORDS, record("PROCESS", 1000, 1, "/usr/bin/host", "host") +
          record("LOAD", 1000, 1000, 1000, 0x10000, 0x10000, 4, 1, "f", bytes.fromhex("4889c8 c3")))  # mov rax, rcx; ret
ips = [0, 0, 0, 1, 1, 2, 3]
table = sorted(set(ips))
trace.add(SAMPLES, samples(len(ips), [(1, 2, deltas(range(1000, 1000 + len(ips)))), (2, 3, leb(1000)), (3, 3, leb(1000)),
                                      (5, 4, leb(len(table)) + deltas(0x10000 + t for t in table) + b"".join(map(leb, ips))),
                                      (7, 3, leb(1000))], 0))
trace.write(sys.argv[1])
PYTHON
got=$("$1/tailor" report --view asm --json "$trace" | /usr/bin/python3 -c 'import json, sys
print([r["samples"] for r in json.load(sys.stdin)["tables"]["asm"]])')
[ "$got" = "[6, 1]" ] || { echo "report --view asm: expected 6 samples at the first instruction and 1 at the second, got $got"; exit 1; }
