# SPDX-License-Identifier: MIT
# tests/golden/cpi.py OUT: a trace with cycles and retired instructions in two functions: a loop with a branch that is taken in one round
# of four, whose counts come from samples alone; and one whose line is counted.  Samples are planted as a processor would take them that
# needs one cycle an instruction, but for a division in the loop's rare block (40 cycles) and a load behind the branch (20): a sixteenth of
# these loads miss all caches; no translation and no branch is missed.  The loop's first blocks are of one operator, the others of another.
import sys
sys.path.insert(0, "tests")
from trace_file import RECORDS, Trace, record

PID, LOOP, PLAIN, PERIOD = 1000, 0x10000, 0x20000, 1000
MISSES = {0x0f: 25000} # of all caches, by block
# offset, bytes, instructions, cycles and executions of each block
BLOCKS = [(0x00, bytes.fromhex("31c0 31c9"), 2, 2, 1),                               # xor eax, eax; xor ecx, ecx
          (0x04, bytes.fromhex("a8 03 75 07"), 2, 2, 400000),                       # test al, 3; jne +7
          (0x08, bytes.fromhex("4889f9 48f7f1 90"), 3, 42, 100000),                  # mov rcx, rdi; div rcx; nop
          (0x0f, bytes.fromhex("48030c c6 48ffc0 4839d0 7ce9"), 4, 23, 400000),      # add rcx, [rsi + rax * 8]; inc rax; cmp rax, rdx; jl
          (0x1b, bytes.fromhex("4889c8 c3"), 2, 2, 1)]                               # mov rax, rcx; ret
code = b"".join(b for _, b, *_ in BLOCKS)
HEADER = record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]])
for number, (name, config) in enumerate((("cycles", 0), ("instructions", 1), ("cache-misses", 3), ("dTLB-load-misses", 0x10003), ("branch-misses", 5))):
    unit = "events" if name == "instructions" else name # as recorders up to 1.0.0 said; its type and config say what it counts
    HEADER += record("EVENT", 0, number, name, unit, 0, config, PERIOD // (10 if number > 1 else 1), 0, 0, 0, 0, 0, "cpu", 0)
body = record("PROCESS", PID, 1, "/usr/bin/host", "host") + record("LEVEL", PID, 1, 0, "line", [])
body += record("SOURCE", PID, 1, 0, 0, "plain.txt", b"one line\n")
body += record("COMPONENT", PID, 1, 0, 1, "line 1", "") + record("LEVEL", PID, 2, 1, "operator", [])
body += b"".join(record("COMPONENT", PID, 2, 0, n, name, "") for n, name in enumerate(("filter", "sum", "scan"), 1))
body += record("LINK", PID, 1, 2, 1, 3, 1, 0)
body += record("LOAD", PID, PID, PID, LOOP, LOOP, len(code), 1, "loop", code)
body += record("CODE_MAP", PID, LOOP, 0, [[0, 2, 1], [0x0f, 2, 2]])
body += record("DEBUG_INFO", PID, PLAIN, 1, [[PLAIN, 1, 0, "plain.txt"]])
body += record("LOAD", PID, PID, PID, PLAIN, PLAIN, 4, 2, "plain", b"\x90\x90\x90\xc3")
body += record("FLOW", PID, 1, 1, 1, [[1, 1, 1]], [[2**64 - 1, 0, 0], [0, 2**64 - 1, 0]], [], [])
body += record("COUNTER_BLOCK", PID, 7, 0, 0, 0, 0, [[3, 1, 1, 0]]) + record("COUNTER_VALUES", PID, 7, 0, [[25000]], time_ns=9 * 10**8)
trace = Trace(HEADER)
trace.add(RECORDS, body)

for event in (0, 1):
    ips = [PLAIN + i % 4 for i in range((25000 * 4) // PERIOD)]
    for offset, data, instructions, cycles, executions in BLOCKS:
        ips += [LOOP + offset] * ((cycles if event == 0 else instructions) * executions // PERIOD)
    trace.add_ips(ips, PERIOD, event, PID)
trace.add_ips([LOOP + offset for offset, nr in MISSES.items() for _ in range(nr // (PERIOD // 10))], PERIOD // 10, 2, PID)
trace.write(sys.argv[1])
