# SPDX-License-Identifier: MIT
"""python_shares.py SECONDS: a() does twice the work of b().  At the end, or after SIGTERM, it prints the processor time of a() in % of both's,
by its own clock: what runs as often need not cost as much (a JIT)."""
import signal
import sys
import time


def a():
    s = 0
    for i in range(20000):
        s += i * i % 7
    return s


def b():
    s = 0
    for i in range(10000):
        s += i * i % 7
    return s


def timed(function):
    begin = time.thread_time()
    function()
    return time.thread_time() - begin


def main():
    of_a = of_b = 0.0
    while of_a + of_b < float(sys.argv[1]) and not enough:
        of_a += timed(a)
        of_b += timed(b)
    print(f"{100 * of_a / (of_a + of_b):.1f}", flush=True)


enough = []
signal.signal(signal.SIGTERM, lambda *_: enough.append(1))
main()
