# SPDX-License-Identifier: MIT
"""An ordinary Numba program: numba_host.py SECONDS (of processor time, once all is compiled)."""
import sys
import time

import numpy as np
from numba import njit


@njit
def mandelbrot(n, limit):
    inside = 0
    for py in range(n):
        for px in range(n):
            x0 = 3.0 * px / n - 2.0
            y0 = 2.0 * py / n - 1.0
            x = y = 0.0
            i = 0
            while x * x + y * y <= 4.0 and i < limit:
                x, y = x * x - y * y + x0, 2.0 * x * y + y0
                i += 1
            if i == limit:
                inside += 1
    return inside


@njit
def prefix_sums(a, rounds):
    for _ in range(rounds):
        total = 0
        for i in range(a.size):
            total = (total + a[i]) % 1000003
            a[i] = total
    return a[-1]


def main():
    def work():
        return mandelbrot(300, 200), int(prefix_sums(np.arange(100000), 20))

    results = {work()}
    end = time.process_time() + float(sys.argv[1])
    while time.process_time() < end:
        results.add(work())
    print(sorted(results))


main()
