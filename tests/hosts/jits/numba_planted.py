# SPDX-License-Identifier: MIT
"""numba_planted.py SECONDS ROUNDS_FILE: fib() three times as often as bif(), compiled by Numba."""
import sys
import time

from numba import int64, njit


@njit(int64(int64))
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@njit(int64(int64))
def bif(n):
    return n if n < 2 else bif(n - 1) + bif(n - 2)


end = time.monotonic() + float(sys.argv[-2])
rounds = result = 0
while rounds == 0 or time.monotonic() < end:
    result = sum(fib(20) for _ in range(15)) + sum(bif(20) for _ in range(5))
    rounds += 1
print("result", result)
with open(sys.argv[-1], "w") as f:
    f.write(f"{rounds}\n")
