# SPDX-License-Identifier: MIT
"""fib.py SECONDS ROUNDS_FILE, for PyPy."""
import sys
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


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
        result = fib(20) + total(numbers)
        rounds += 1
    print("result", result)
    with open(sys.argv[2], "w") as f:
        f.write(f"{rounds}\n")


main()
