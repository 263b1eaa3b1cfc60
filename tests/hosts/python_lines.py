# SPDX-License-Identifier: MIT
"""python_lines.py SECONDS FILE: body() has lines that work in different ways, and measures each of them by its thread's own clock.  FILE gets
their shares, as JSON by the number of the line."""
import json
import sys
import time

clock = time.thread_time
spent = {}


def burn(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s


class Worker:
    @property
    def attribute(self):
        return burn(3000)

    def method(self, n):
        return burn(n)

    def __enter__(self):
        burn(2000)

    def __exit__(self, *error):
        burn(2000)

    def __add__(self, other):
        return burn(4000)


def generated(n):
    for _ in range(3):
        yield burn(n)


def note(begin):
    end = clock()
    line = sys._getframe(1).f_lineno - 1
    spent[line] = spent.get(line, 0) + end - begin
    return clock()


def body(w):
    t = clock()
    x = sum(range(60000))
    t = note(t)
    x += w.attribute
    t = note(t)
    x += w.method(5000)
    t = note(t)
    with w: pass
    t = note(t)
    x += w + w
    t = note(t)
    x += sum([burn(n) for n in (1500, 1700)])
    t = note(t)
    x += sum(list(generated(1000)))
    t = note(t)
    x += sorted(range(10000), key=lambda n: -n)[0]
    t = note(t)
    x += burn(4000) if w else burn(1)
    t = note(t)
    x += len("".join(map(str, range(8000))))
    t = note(t)
    for s in generated(1200): x += s
    t = note(t)


end = clock() + float(sys.argv[1])
worker = Worker()
while clock() < end:
    body(worker)
with open(sys.argv[2], "w") as to:
    json.dump({line: time / sum(spent.values()) for line, time in spent.items()}, to)
