# SPDX-License-Identifier: MIT
# Planted work, 50 : 30 : 20, of which each function does its own; planted.py [WORKERS].  It ends by SIGTERM.  $PLANTED_CLOCK.PID has what
# each took by the thread's clock, in nanoseconds.
import os
import signal
import sys
import time

took = [0, 0, 0]


def heavy():
    x = 1
    for _ in range(50000):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
    return x


def middle():
    x = 2
    for _ in range(30000):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
    return x


def light():
    x = 3
    for _ in range(20000):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
    return x


def serve():
    clock = os.open(f"{os.environ['PLANTED_CLOCK']}.{os.getpid()}", os.O_WRONLY | os.O_CREAT)
    while True:
        for i, work in enumerate((heavy, middle, light)):
            begin = time.thread_time_ns()
            work()
            took[i] += time.thread_time_ns() - begin
        os.pwrite(clock, b"%20d %20d %20d\n" % tuple(took), 0)


def master(workers):
    pids = []
    for _ in range(workers):
        pid = os.fork()
        if pid == 0:
            serve()
        pids.append(pid)

    def end(*_):
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        os._exit(0)
    signal.signal(signal.SIGTERM, end)
    while True:
        signal.pause()


if __name__ == "__main__":
    master(int(sys.argv[1])) if sys.argv[1:] else serve()
