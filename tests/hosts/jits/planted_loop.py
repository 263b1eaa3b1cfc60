# SPDX-License-Identifier: MIT
"""What the planted programs in Python do with their generated code: PROGRAM ... SECONDS ROUNDS_FILE."""
import sys
import time


def planted_loop(fib, bif):
    """Calls fib(20) three times as often as bif(20), which does the same work, for so long; writes how many rounds that were."""
    end = time.monotonic() + float(sys.argv[-2])
    rounds = result = 0
    while rounds == 0 or time.monotonic() < end:
        result = sum(fib(20) for _ in range(15)) + sum(bif(20) for _ in range(5))
        rounds += 1
    print("result", result)
    with open(sys.argv[-1], "w") as f:
        f.write(f"{rounds}\n")
