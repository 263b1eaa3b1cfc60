# SPDX-License-Identifier: MIT
"""What a page costs that is copied when it is written: pages.py alone|beside.

alone: prints the number of such pages, for a recording.  beside: what one takes on one processor, what it takes while another thread of the
process computes on another one, and what that thread loses; in ns.  Pages are fresh ones that were read before.
"""
import ctypes, os, statistics, sys, threading, time

BYTES, PAGE, ROUNDS = 64 << 20, 4096, 7
libc = ctypes.CDLL(None)
libc.memchr.argtypes = libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
MADV_NOHUGEPAGE = 15
own = ctypes.create_string_buffer(1 << 16)


def write(at, times=1):
    """How long a page takes, in ns."""
    begin = time.perf_counter_ns()
    for _ in range(times):
        libc.memset(at, 1, BYTES)
    return (time.perf_counter_ns() - begin) / (BYTES / PAGE) / times


def pages_that_were_read():
    at = libc.mmap(None, BYTES, 3, 0x22, -1, 0)  # readable and writable, private, of no file
    libc.madvise(at, BYTES, MADV_NOHUGEPAGE)
    libc.memchr(at, 1, BYTES)
    return at


def beside_another(times, again):
    """A page's time, and the rounds of another thread in a ns; again: of pages that need no copy."""
    rounds, stop = [0], []

    def compute():
        while not stop:
            libc.memset(ctypes.addressof(own), 1, 1 << 16)
            rounds[0] += 1

    at = pages_that_were_read()
    if again:
        write(at)
    other = threading.Thread(target=compute)
    other.start()
    time.sleep(0.02)
    before, begin = rounds[0], time.perf_counter_ns()
    page = write(at, times)
    rate = (rounds[0] - before) / (time.perf_counter_ns() - begin)
    stop.append(True)
    other.join()
    libc.munmap(at, BYTES)
    return page, rate


def alone():
    at = pages_that_were_read()
    page = write(at)
    libc.munmap(at, BYTES)
    return page


here = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, here[:1])
copy = statistics.median(alone() for _ in range(ROUNDS))
if sys.argv[1] == "alone":
    print(ROUNDS * BYTES // PAGE)
else:
    os.sched_setaffinity(0, here[:2])
    quiet = statistics.median(beside_another(8, True)[1] for _ in range(ROUNDS))
    pages = [beside_another(1, False) for _ in range(ROUNDS)]
    page = statistics.median(p for p, _ in pages)
    print(f"{copy:.0f} {page:.0f} {statistics.median(p * (1 - rate / quiet) for p, rate in pages):.0f}")
