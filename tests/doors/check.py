# SPDX-License-Identifier: MIT
"""Hosts x ways of recording x ways of reading: the same planted work in every cell, or a sentence that says why not.

check.py BUILD [--full] [--host NAME]... [--way NAME]... [--reader NAME]... [--table FILE]

Each host is recorded in each way once, and read by `report` and some of the other readers, so that each reader meets each host and each
way; --full: by all.  A cell is

  right   the shares of the three kinds of work, of their sum, are those of the host's own clock, within POINTS; together they are most
          of the time; the largest one is among the first rows.  Of a whole machine this is so for the host's process, and its program, or
          its work, is in what the answer begins with where no process is asked for
  refused the reader says one of the sentences that REFUSALS allows for that host and way
  n/a     NOT_APPLICABLE says why
  wrong   neither: exit 1

A cell with shares that differ is recorded again, for longer, until evidence.py's rule decides.
"""
import argparse
import itertools
import os
import re
import shutil
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/..")
import evidence  # noqa: E402
from common import Refused, Skip, one_line, sh  # noqa: E402
from hosts import LABELS, hosts  # noqa: E402
from readers import READERS  # noqa: E402
from ways import WAYS, Recording  # noqa: E402

POINTS = 4.0
MOST = 50.0    # per cent of the time that the planted work has to be where the host alone was recorded
FIRST_ROWS = 6
OTHERS = 4     # readers beside `report` of each recording
TRIES = 3

# host, way, reader (patterns), and why there is no such cell
NOT_APPLICABLE = [
    ("go", "inject|preload|dormant", ".*", "a static program loads no library"),
    ("build", "inject|dormant", ".*", "its compilers live for less than a second"),
    ("build", "import", ".*", "perf records no command lines"),
    ("build", ".*", "pprof|folded|firefox|otlp|db-.*|stat|diff", "command lines are no functions"),
    (".*", ".*", "whatif", "recorded without context switches"),
]
# host, way, reader, and a sentence that is enough of an answer
REFUSALS = [
    ("python|prefork", "attach|watch.*|record.*|import", ".*", r"Python functions|interpreter ran|Names of Python"),
    ("node|cluster", "attach|watch.*|record.*|import", ".*", r"generated and did not name"),
    ("java", "import", ".*", r"generated and did not name"),
    ("engine", "attach|watch|import", ".*", r"generated and did not name|no dictionary"),
    ("engine", "watch-all|record-all", ".*", r"planted generated and did not name|no dictionary"),
    ("postgresql", "import", ".*", r"not known here"),
    ("postgresql", "inject", ".*", r"cannot inject into process"),
    ("sqlite|duckdb", "attach|inject|watch.*|record.*|import", ".*", r"not known here"),
    (".*", ".*", "db-changes", r"two are needed to compare|not compared, since"),
    (".*", ".*", "whatif", r"no context switches"),
]


def allowed(table, host, way, reader):
    return [row[3] for row in table if re.fullmatch(row[0], host) and re.fullmatch(row[1], way) and re.fullmatch(row[2], reader)]


class Wrong(Exception):
    """What was expected, and what came.  Other shares may be chance, all else is none."""
    def __init__(self, text, may_be_chance=False):
        super().__init__(text)
        self.may_be_chance = may_be_chance


def judge(recording, answer):
    host = recording.host
    if answer.changed:  # one of twenty comparisons may name what did not
        raise Wrong(f"the same work ran, and these changed: {', '.join(one_line(n, 30) for n in answer.changed[:3])}", may_be_chance=True)
    if answer.rows is None:
        return "nothing has changed"
    if answer.leading is not None and not any(re.search("|".join((rf"\b{re.escape(recording.program)}\b", *host.names)), n) for n in answer.leading):
        raise Wrong(f"a whole machine begins with {', '.join(one_line(n, 30) for n in answer.leading[:3])}, without {recording.program}")
    sums = [sum(share for name, share in answer.rows if re.search(pattern, name)) for pattern in host.names]
    if not all(sums):
        missing = LABELS[sums.index(0)]
        raise Wrong(f"{missing} is in no row; the first ones are {', '.join(f'{one_line(n, 30)} {s:.1f}' for n, s in answer.rows[:3])}")
    shares = [100 * s / sum(sums) for s in sums]
    text = " : ".join(f"{s:.1f}" for s in shares)
    if recording.truth and max(abs(a - b) for a, b in zip(shares, recording.truth)) > POINTS:
        raise Wrong(f"{text} where the clock says {' : '.join(f'{t:.1f}' for t in recording.truth)}", may_be_chance=True)
    if answer.of_host:
        if sum(sums) < MOST:
            raise Wrong(f"planted work is {sum(sums):.1f} % of the time only")
        if answer.by_order and not any(re.search(host.names[0], name) for name, _ in answer.rows[:FIRST_ROWS]):
            raise Wrong(f"the largest is not among the first {FIRST_ROWS} rows: {', '.join(one_line(n, 30) for n, _ in answer.rows[:3])}")
    return text


class Matrix:
    def __init__(self, tailor, readers):
        self.tailor, self.readers = tailor, readers
        self.cells = {}  # (host, way, reader): (verdict, text)

    def read(self, recording, way, reader):
        """A verdict, its text, and whether the cell should be recorded again."""
        host, text = recording.host.name, ""
        recording.messages.clear()
        try:
            answer = READERS[reader](recording)
            text = answer.text
            return "right", judge(recording, answer), False
        except Skip as e:
            return "n/a", str(e), False
        except (Refused, Wrong) as e:
            text += recording.said + "".join(recording.messages) + str(e)
            for sentence in allowed(REFUSALS, host, way, reader):
                if m := re.search(rf"[^.\n]*(?:{sentence})[^.\n]*", text):
                    return "refused", one_line(m[0]), False
            return "wrong", one_line(str(e)), isinstance(e, Wrong) and e.may_be_chance

    def record(self, host, way, readers, outcomes, times):
        """Reads a new recording; returns the readers for which another one is needed."""
        again = []
        folder = tempfile.mkdtemp(dir=host.folder)
        os.chmod(folder, 0o777)
        recording = Recording(host, folder, self.tailor, times)
        try:
            WAYS[way](recording)
        except (Refused, Skip) as e:
            for reader in readers:
                refused = [s for s in allowed(REFUSALS, host.name, way, reader) if re.search(s, str(e))]
                self.cells[host.name, way, reader] = ("n/a" if isinstance(e, Skip) else "refused" if refused else "wrong", one_line(str(e)))
            return again
        for reader in readers:
            verdict, text, may_be_chance = self.read(recording, way, reader)
            outcomes.setdefault(reader, []).append(verdict != "wrong")
            self.cells[host.name, way, reader] = verdict, text
            if verdict == "wrong" and may_be_chance and evidence.verdict(outcomes[reader], evidence.NEARLY["right"], evidence.SURE) is None:
                again.append(reader)
        shutil.rmtree(folder, ignore_errors=True)
        return again

    def add(self, host, way, readers):
        wanted, outcomes = [], {}
        for reader in readers:
            if reasons := allowed(NOT_APPLICABLE, host.name, way, reader):
                self.cells[host.name, way, reader] = "n/a", reasons[0]
            else:
                wanted.append(reader)
        for times in range(1, TRIES + 1):
            if wanted:
                wanted = self.record(host, way, wanted, outcomes, times)

    def chosen(self, number):
        """Of recording number such and such: `report`, and some others in turn."""
        others = [r for r in self.readers if r != "report"]
        some = itertools.islice(itertools.cycle(others), number * OTHERS % max(len(others), 1), None)
        return [r for r in self.readers if r == "report"] + list(itertools.islice(some, min(OTHERS, len(others))))

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for v in ("wrong", "refused", "right", "n/a") for line in self.lines(v))

    def lines(self, verdict):
        return [f"{verdict:8} {host:10} {way:9} {reader:11} {text}" for (host, way, reader), (v, text) in self.cells.items() if v == verdict]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--full", action="store_true")
    for name in ("host", "way", "reader"):
        parser.add_argument("--" + name, action="append")
    parser.add_argument("--table")
    o = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # hosts and recorders end, too
    build = os.path.abspath(o.build)
    every = {"host": [h.name for h in hosts(build)], "way": list(WAYS), "reader": list(READERS)}
    for kind, names in every.items():
        for name in getattr(o, kind) or []:
            if name not in names:
                sys.exit(f"there is no {kind} {name}: they are {', '.join(names)}")
    try:
        sh(["/usr/bin/python3", HERE + "/../page/fetch.py", build + "/page-deps"])
    except Refused as e:
        print(f"pages cannot be read: {one_line(str(e))}", flush=True)
    matrix = Matrix(build + "/tailor", o.reader or list(READERS))
    chosen = [h for h in hosts(build) if not o.host or h.name in o.host]
    ways = o.way or list(WAYS)
    for i, host in enumerate(chosen):
        begin, before = time.monotonic(), set(matrix.cells)
        with tempfile.TemporaryDirectory(prefix="tailor-doors-", ignore_cleanup_errors=True) as folder:
            os.chmod(folder, 0o755)
            try:
                host.prepare(folder)
            except Skip as e:
                print(f"{host.name:10} skipped, because {e}", flush=True)
                continue
            try:
                for k, way in enumerate(ways):
                    matrix.add(host, way, matrix.readers if o.full else matrix.chosen(i * len(ways) + k))
            finally:
                host.end()
        new = [matrix.cells[c][0] for c in matrix.cells if c not in before]
        if o.table:
            matrix.write(o.table)
        print(f"{host.name:10} " + ", ".join(f"{new.count(v)} {v}" for v in ("right", "refused", "n/a", "wrong")) +
              f"  ({time.monotonic() - begin:.0f} s)", flush=True)
    print("\n".join(matrix.lines("wrong")))
    counts = {v: len(matrix.lines(v)) for v in ("right", "refused", "n/a", "wrong")}
    applicable = counts["right"] + counts["refused"] + counts["wrong"]
    print(f"{applicable} cells: {counts['right']} right ({100 * counts['right'] / max(applicable, 1):.1f} %), {counts['refused']} refused by a "
          f"sentence, {counts['wrong']} wrong; {counts['n/a']} not applicable")
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
