#!/bin/bash
# SPDX-License-Identifier: MIT
# A child that existed before the recorder found it has waited for nothing until its first record, whatever the time of its fork. A child
# that the kernel reports waits for a processor until it first runs.
. tests/golden/begin.bash
/usr/bin/python3 - "$B/tailor" "$dir/t.tlr" <<'END'
import json, subprocess, sys
from trace_file import RECORDS, SAMPLES, Trace, deltas, leb, record, samples

tailor, path = sys.argv[1:]
MS, S = 10**6, 10**9
BEGIN = 100 * S
IN, WAITS = 0, 1


def event(number, name, unit):
    return record("EVENT", 0, number, name, unit, 1, number, 100000, 0, 0, 0, 0, 0, "cpu", 0, time_ns=BEGIN)


def column(number, values):
    return (number, 2, deltas(values))


trace = Trace(record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]], time_ns=BEGIN) +
              event(0, "task-clock", "ns") + event(1, "context-switches", "ns") + event(2, "switch", "ns"))
trace.add(RECORDS, record("PROCESS", 1000, 1, "/usr/bin/server", "server", time_ns=BEGIN) +
          record("FORK", 1001, 1000, 1000, time_ns=S) +                   # as recorders of 1.0.0 wrote it
          record("FORK", 1002, 1000, 1000, 1, time_ns=BEGIN + 500 * MS) +  # found after it had begun
          record("FORK", 1003, 1000, 1000, 0, time_ns=BEGIN + 1000 * MS))
# every process runs from 2 s to 3 s and waits up to 4 s, when it runs again
switches = [(pid, BEGIN + at * MS, kind) for pid in (1000, 1001, 1002, 1003) for at, kind in ((2000, IN), (3000, WAITS), (4000, IN))]
trace.add(SAMPLES, samples(len(switches), [column(1, [t for _, t, _ in switches]), column(2, [p for p, _, _ in switches]),
                                           column(3, [p for p, _, _ in switches]), column(7, [k for _, _, k in switches])], 2))
trace.write(path)
rows = json.loads(subprocess.run([tailor, "report", "--view", "resources", "--json", path], stdout=subprocess.PIPE,
                                 check=True).stdout)["tables"]["thread"]
got = {int(r["name"].split()[0]): [round(r[k] / MS) for k in ("wall_ns", "run_queue_ns")] for r in rows}
expected = {1000: [2000, 0], 1001: [2000, 0], 1002: [2000, 0], 1003: [3000, 1000]}
if got != expected:
    print(f"report --view resources: expected (all, run queue) in ms by thread {expected}, got {got}")
    sys.exit(1)
END
