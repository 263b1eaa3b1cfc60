# SPDX-License-Identifier: MIT
# Planted work of Python's own, 50 : 30 : 20, and with numpy: planted.py SECONDS [numpy]
import sys
import time

if sys.argv[2:] == ["numpy"]:
    import numpy

    data = numpy.random.default_rng(1).random(20000)

    def work(units):
        for _ in range(units):
            numpy.sort(data)
else:
    def step(x):
        return (x * 1664525 + 1013904223) & 0xFFFFFFFF

    def work(units):
        x = units
        for _ in range(units * 300):
            x = step(x)
        return x


def search_handler():
    work(50)


def list_handler():
    work(30)


def detail_handler():
    work(20)


def serve(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        search_handler()
        list_handler()
        detail_handler()


if __name__ == "__main__":
    serve(float(sys.argv[1]))
