# SPDX-License-Identifier: MIT
# tests/golden/shared.py OUT: a trace of samples with an address, each of which two components share, or three.
import sys
sys.path.insert(0, "tests")
from trace_file import RECORDS, SAMPLES, Trace, deltas, leb, record, samples

PID, N = 1000, 40
body = record("PROCESS", PID, 1, "/usr/bin/host", "host") + record("LEVEL", PID, 1, 0, "operator", []) + record("LEVEL", PID, 2, 1, "line", [])
for n in range(1, 4):
    body += record("COMPONENT", PID, 1, 0, n, f"operator {n}", "")
for line in (1, 2):
    body += record("COMPONENT", PID, 2, 0, line, f"line {line}", "")
    for n in range(1, line + 2):
        body += record("LINK", PID, 2, 1, line, n, 1, 0)
body += record("LOAD", PID, PID, PID, 0x10000, 0x10000, 64, 1, "code", b"\x90" * 63 + b"\xc3")
body += record("CODE_MAP", PID, 0x10000, 0, [[0, 2, 1], [16, 2, 2]])
trace = Trace()
trace.add(RECORDS, body)
ips = [0x10000 + 16 * (i % 2) for i in range(N)]
addresses = [0x5000000 + (i * 24 if i % 2 == 0 else (i * 7919 % 1000) * 64) for i in range(N)]
table = sorted(set(ips))
columns = [(1, 2, deltas(1000 + 10**6 * i for i in range(N))), (2, 3, leb(PID)), (3, 3, leb(PID)),
           (5, 4, leb(len(table)) + deltas(table) + b"".join(leb(table.index(ip)) for ip in ips)), (7, 3, leb(10**6)), (6, 2, deltas(addresses))]
trace.add(SAMPLES, samples(N, columns))
trace.write(sys.argv[1])
