# SPDX-License-Identifier: MIT
# thirty.py TRACE: a plan of thirty operators of three names.  Operator i has 10 + i samples.
import sys

sys.path.insert(0, "tests")
from trace_file import RECORDS, Trace, record

PID, NR = 1000, 30
NAMES = ["hash join", "scan", "sort"]


def make(path):
    body = record("PROCESS", PID, 1, "/usr/bin/host", "host") + record("LEVEL", PID, 1, 1, "operator", [])
    for i in range(1, NR + 1):
        # joins have conditions, sorts have all the same, scans have none
        detail = f"a{i} = b{i}" if i % 3 == 0 else "by c" if i % 3 == 2 else ""
        body += record("COMPONENT", PID, 1, 0, i, NAMES[i % 3], detail)
        body += record("LOAD", PID, PID, PID, 0x10000 * i, 0x10000 * i, 64, i, f"f{i}", b"\x90" * 64)
        body += record("CODE_MAP", PID, 0x10000 * i, 0, [[0, 1, i]])
    body += b"".join(record("EDGE", PID, 1, i, i + 1, 0, 0, "") for i in range(1, NR))
    trace = Trace()
    trace.add(RECORDS, body)
    trace.add_ips([0x10000 * i + 8 for i in range(1, NR + 1) for _ in range(10 + i)], 100000)
    trace.write(path)


if __name__ == "__main__":
    make(sys.argv[1])
