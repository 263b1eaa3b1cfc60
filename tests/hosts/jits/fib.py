# SPDX-License-Identifier: MIT
"""fib.py SECONDS ROUNDS_FILE, for PyPy and Jython."""
import sys
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def bif(n):
    return n if n < 2 else bif(n - 1) + bif(n - 2)


def total(a):
    s = 0
    for v in a:
        s += v % 7
    return s


def main():
    numbers = [i * 3 for i in range(20000)]
    end = time.time() + float(sys.argv[1])
    rounds = result = 0
    while rounds == 0 or time.time() < end:
        result = fib(20) + fib(20) + fib(20) + bif(20) + total(numbers)
        rounds += 1
    print("result %d" % result)
    with open(sys.argv[2], "w") as f:
        f.write("%d\n" % rounds)


main()
