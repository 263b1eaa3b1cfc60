# SPDX-License-Identifier: MIT
"""python_deep.py SECONDS DEPTH: down() calls itself DEPTH times, and the last of its calls calls leaf(), which has nearly all of the time."""
import sys
import time


def leaf(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s


def down(n):
    return leaf(200000) if n == 0 else down(n - 1)


sys.setrecursionlimit(1000000)
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    down(int(sys.argv[2]))
