#!/bin/bash
# SPDX-License-Identifier: MIT
# A child that existed before the recorder found it has waited for nothing until its first record, whatever the time of its fork. A child
# that the kernel reports waits for a processor until it first runs. Off-CPU time is of the function that waits, and not of the C library's;
# threads that hardly ran come last.
. tests/golden/begin.bash
/usr/bin/python3 - "$B/tailor" "$dir/t.tlr" <<'END'
import json, subprocess, sys
from trace_file import RECORDS, SAMPLES, Trace, deltas, leb, record, samples

tailor, path = sys.argv[1:]
bad = 0
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
# the first two leave their processors in one function, the others in another; the third one alone has no time on a processor
where = {1000: 0x10000, 1001: 0x10000, 1002: 0x20000, 1003: 0x20000}
trace.add(RECORDS, b"".join(record("LOAD", pid, pid, pid, 0x10000 * n, 0x10000 * n, 16, 1, name, bytes(16), time_ns=BEGIN + 1)
                            for pid in where for n, name in ((1, "serve"), (2, "wait_for_work"))))
trace.add(SAMPLES, samples(4, [column(1, [BEGIN + 3000 * MS] * 4), column(2, where), column(3, where), column(5, where.values()),
                               column(7, [1] * 4)], 1))
ran = (1000, 1001, 1003)
trace.add(SAMPLES, samples(3, [column(1, [BEGIN + 2500 * MS] * 3), column(2, ran), column(3, ran), column(5, [0x10004] * 3),
                               column(7, [1000 * MS] * 3)]))
trace.write(path)


def table(path, view, name):
    return json.loads(subprocess.run([tailor, "report", "--view", view, "--json", path], stdout=subprocess.PIPE,
                                     check=True).stdout)["tables"][name]


def expect(what, expected, got):
    global bad
    if got != expected:
        bad = 1
        print(f"{what}: expected {expected}, got {got}")


expect("report --view resources, ms of all and in the run queue by thread",
       {1000: [2000, 0], 1001: [2000, 0], 1002: [2000, 0], 1003: [3000, 1000]},
       {int(r["name"].split()[0]): [round(r[k] / MS) for k in ("wall_ns", "run_queue_ns")] for r in table(path, "resources", "thread")})
expect("report --view offcpu, waits by function", [("serve", 2, 0), ("wait_for_work", 1, 0), ("wait_for_work", 1, 1)],
       [(r["name"], r["waits"], r["idle"]) for r in table(path, "offcpu", "function")])
# its threads wait in __lll_lock_wait() of the C library
expect("report --view offcpu, locks by function", [("take_ticket", "lock")],
       [(r["name"], r["waits_for"]) for r in table("tests/golden/views/whatif.tlr", "offcpu", "function")])
sys.exit(bad)
END
