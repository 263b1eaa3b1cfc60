# SPDX-License-Identifier: MIT
"""Rows of compressed blocks are counted: blocks.py BLOCKS THREADS.  Threads take blocks from a queue, decompress them, and count the rows
with a word, as in the count over Stack Overflow's data; prints how long that took, in ns."""
import bz2, itertools, sys, threading, time

blocks, threads = int(sys.argv[1]), int(sys.argv[2])
text = "".join(f'<row Id="{i}" Score="{i * 7919 % 1009}" Tags="{("java", "c", "scala")[i % 3]}"/>\n' for i in range(8000)).encode()
block = bz2.compress(text)
left, counts = itertools.count(blocks, -1), []


def count():
    rows = 0
    while next(left) > 0:
        rows += bz2.decompress(block).count(b"scala")
    counts.append(rows)


begin = time.monotonic_ns()
workers = [threading.Thread(target=count) for _ in range(threads)]
for w in workers:
    w.start()
for w in workers:
    w.join()
print(time.monotonic_ns() - begin)
assert sum(counts) == blocks * 2666
