# SPDX-License-Identifier: MIT
"""numba_planted.py SECONDS ROUNDS_FILE: fib() three times as often as bif(), compiled by Numba."""
from numba import int64, njit

from planted_loop import planted_loop


@njit(int64(int64))
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@njit(int64(int64))
def bif(n):
    return n if n < 2 else bif(n - 1) + bif(n - 2)


planted_loop(fib, bif)
