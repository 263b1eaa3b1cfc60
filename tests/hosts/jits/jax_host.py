# SPDX-License-Identifier: MIT
"""jax_host.py SECONDS ROUNDS_FILE: an ordinary JAX program; fib() does three times the work of bif(), each compiled by XLA."""
import sys
import time

import jax
import jax.numpy as jnp


def work(x, steps):
    return jax.lax.fori_loop(0, steps, lambda i, x: (x * 1103515245 + 12345 + i) % 65521, x)


@jax.jit
def fib(x):
    return work(x, 3000)


@jax.jit
def bif(x):
    return work(x, 1000)


x = jnp.arange(64, dtype=jnp.uint32)
end = time.monotonic() + float(sys.argv[-2])
rounds = result = 0
while rounds == 0 or time.monotonic() < end:
    for _ in range(20):
        result = int(fib(x).sum()) + int(bif(x).sum())
    rounds += 1
print("result", result)
with open(sys.argv[-1], "w") as f:
    f.write(f"{rounds}\n")
