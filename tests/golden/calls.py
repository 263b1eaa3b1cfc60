# SPDX-License-Identifier: MIT
# tests/golden/calls.py OUT [text [QUEENS SAID]]: a trace of the n-queens program (tests/queens.h) for six queens, whose counters leave open what site h
# calls, and of which one counter contradicts another; with samples in each procedure, and one instruction that is counted.  text: with the
# program's text, whose lines are the blocks.  SAID: of so many queens, what tests/hosts/queens printed for them is what is counted.
import sys
sys.path.insert(0, "tests")
from trace_file import RECORDS, SAMPLES, Trace, deltas, leb, record, samples

PID, OUT = 1000, 2**64 - 1
NAMES = ["queens", "try-column", "row-free?", "diagonal-free?", "exists?", "same-row?", "column-of", "on-diag?", "on-diag-loop"]
ONE = [(OUT, 0), (0, OUT)]
ARCS = [ONE, [(OUT, 0), (0, 1), (1, OUT), (0, 2), (2, 3), (2, 7), (7, OUT), (3, 4), (3, 6), (4, 5), (4, 6), (5, 6), (6, 2)], ONE, ONE,
        [(OUT, 0), (0, 1), (1, OUT), (0, 2), (2, 3), (3, OUT), (2, 4), (4, OUT)], ONE, ONE, ONE,
        [(OUT, 0), (0, 1), (1, 2), (2, 1), (1, 3), (3, OUT)]]
# site, caller, block, callee
CALLS = [(2, 1, 0, 2), (3, 2, 3, 3), (4, 2, 4, 4), (10, 2, 5, 2), (5, 3, 0, 5), (7, 4, 0, 7), (6, 4, 0, 5), (8, 5, 2, 6), (8, 5, 2, 8),
         (11, 5, 4, 5), (9, 8, 0, 9)]
# procedure, arc, count: what the program does for six queens, but that four of column-of's executions never returned
COUNTED = [(1, 1, 1), (2, 1, 4), (2, 3, 149), (2, 8, 538), (2, 9, 152), (2, 10, 204), (3, 1, 894), (4, 1, 356), (5, 1, 508), (5, 4, 742),
           (5, 6, 2548), (7, 0, 356), (7, 1, 352)]
SAMPLED = [1, 40, 60, 30, 300, 160, 5, 80, 120]
# procedure, block, line
TEXT = [(1, None, "(define (queens n)"), (1, 0, "  (try-column 1 '()))"), (2, None, "(define (try-column row placed)"), (2, 0, "  (if (> row n)"),
        (2, 1, "      1"), (2, 2, "      (let loop ((column 1)) (if (<= column n)"), (2, 3, "        (if (row-free? column placed)"),
        (2, 4, "            (if (diagonal-free? row column placed)"), (2, 5, "                (try-column (+ row 1) (cons column placed))))"),
        (2, 6, "        (loop (+ column 1))"), (2, 7, "        0))))"), (3, None, "(define (row-free? column placed)"),
        (3, 0, "  (not (exists? (same-row? column) placed)))"), (4, None, "(define (diagonal-free? row column placed)"),
        (4, 0, "  (not (exists? (on-diag? row (column-of column)) placed)))"), (5, None, "(define (exists? found? list)"), (5, 0, "  (if (null? list)"),
        (5, 1, "      #f"), (5, 2, "      (if (found? (car list))"), (5, 3, "          #t"), (5, 4, "          (exists? found? (cdr list)))))"),
        (6, 0, "(define ((same-row? column) queen) (= queen column))"), (7, 0, "(define (column-of queen) queen)"),
        (8, 0, "(define ((on-diag? row column) queen) (on-diag-loop row column queen))"), (9, 0, "(define (on-diag-loop row column queen)"),
        (9, 1, "  (let loop ((n 1))"), (9, 2, "    (if (< n row) (loop (+ n 1))"), (9, 3, "        (= n (abs (- column queen))))))")]
LINE_OF = {(p, b): n for n, (p, b, _) in enumerate(TEXT, 1)} if sys.argv[2:3] == ["text"] else {}
EXISTS = 3290  # executions of the one instruction that is counted
if len(sys.argv) > 4:
    said = {(int(p), int(a)): int(n) for p, a, n in (line.split()[1:] for line in open(sys.argv[4]) if line.startswith("arc "))}
    COUNTED = [(p, arc, said[p, arc]) for p, arc, _ in COUNTED]
    EXISTS = said[5, 4] + said[5, 6]


def start(procedure):
    return 0x10000 * procedure


head = record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 4, "/", [["queens"], [sys.argv[3]]]) if len(sys.argv) > 4 else b""
body = head + record("PROCESS", PID, 1, "/usr/bin/host", "host") + record("LEVEL", PID, 1, 0, "procedure", [])
if LINE_OF:
    body += record("LEVEL", PID, 2, 1, "line", [])
    body += record("SOURCE", PID, 2, 0, 0, "queens.ss", "".join(f"{line}\n" for *_, line in TEXT).encode())
    body += b"".join(record("COMPONENT", PID, 2, 0, n, f"line {n}", "") for n in range(1, len(TEXT) + 1))
    body += b"".join(record("LINK", PID, 2, 1, n, procedure, 1, 0) for n, (procedure, *_) in enumerate(TEXT, 1))
for n, name in enumerate(NAMES, 1):
    nr_blocks = 1 + max(b for arc in ARCS[n - 1] for b in arc if b != OUT)
    blocks = [[2, LINE_OF[n, b], 1] if LINE_OF else [0, 0, 0] for b in range(nr_blocks)]
    calls = [[block, site, 1, callee] for site, caller, block, callee in CALLS if caller == n]
    body += record("COMPONENT", PID, 1, 0, n, name, "")
    body += record("LOAD", PID, PID, PID, start(n), start(n), 64, n, name, b"\x90" * 62 + b"\x90\xc3")
    places = [[16 * i, 2, LINE_OF[n, min(i, nr_blocks - 1)]] for i in range(3)] if LINE_OF else [[0, 1, n]]
    body += record("CODE_MAP", PID, start(n), 0, places)
    body += record("FLOW", PID, 1, 1 if n == 1 else 0, n, blocks, [[f, t, 0] for f, t in ARCS[n - 1]], calls, [[1, n, 0]])
entries = [[3, 1, procedure, arc] for procedure, arc, _ in COUNTED] + [[5, 0, start(5), 16]]
body += record("COUNTER_BLOCK", PID, 7, 0, 0, 0, 0, entries)
body += record("COUNTER_VALUES", PID, 7, 0, [[count] for _, _, count in COUNTED] + [[EXISTS]], time_ns=9 * 10**8)
trace = Trace()
trace.add(RECORDS, body)
ips = [start(n) + 16 * (i % 3) for n, nr in enumerate(SAMPLED, 1) for i in range(nr)]
nr = len(ips)
table = sorted(set(ips))
trace.add(SAMPLES, samples(nr, [(1, 2, deltas(1000 + 10**6 * i for i in range(nr))), (2, 3, leb(PID)), (3, 3, leb(PID)),
                                (5, 4, leb(len(table)) + deltas(table) + b"".join(leb(table.index(ip)) for ip in ips)), (7, 3, leb(10**6))]))
trace.write(sys.argv[1])
