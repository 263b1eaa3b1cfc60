# SPDX-License-Identifier: MIT
"""A registration whose call returned 0 is in the trace, one that was refused is not: ledger.py BUILD FOLDER ROUNDS RECORDS

tests/hosts/ledger.c registers RECORDS records from each of four threads, and a share of them from each of its children, and keeps a ledger
of what each call returned.  Each round records it in another way and compares the ledger with the trace, record by record.
"""
import os
import random
import re
import signal
import subprocess
import sys
import time

B, D, ROUNDS, RECORDS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SEED = int(os.environ.get("SEED", 1))
THREADS = 4
PATIENCE_S = int(os.environ.get("PATIENCE_S", 300))
CALLED, IS_THERE, REFUSED, NO_AGENT, OTHER = 1, 2, 3, 4, 5
LEDGER, TRACE = f"{D}/ledger", f"{D}/ledger.tlr"
NUMBER = re.compile(r" (?:COMPONENT level=2 flags=0 component=(\w+) name=\"n(\d+)\"|COUNTER level=2 component=(\w+) value=(\w+) |"
                    r"LINK lower_level=2 upper_level=1 lower=(\w+) upper=1 |LOAD .* code_index=(\w+) name=\"n(\d+)\")")
# (name, how it is recorded, what else happens).  recorder, host: stopped for so many seconds at most, again and again; kill: the host is
# killed at some point; stop: the recording is ended while the host goes on.
KINDS = [
    ("plain", "run", {}),
    ("forks", "run", {"children": 12}),
    ("a slow recorder", "run", {"recorder": 0.2}),
    ("killed", "run", {"kill": True, "pause": True}),
    ("forks, a slow recorder, killed", "run", {"children": 12, "recorder": 0.05, "kill": True, "pause": True}),
    ("constructors, forks", "run", {"children": 6, "construct": True}),
    ("a preloaded agent, constructors", "preload", {"children": 6, "construct": True}),
    ("a preloaded agent, a slow recorder, killed", "preload", {"recorder": 0.05, "kill": True, "pause": True}),
    ("a host that is stopped", "run", {"children": 6, "host": 0.3}),
    ("left behind by the command", "left", {"children": 6}),
    ("injected, the recording ended", "inject", {"children": 6, "stop": True, "pause": True}),
    ("injected, a slow recorder, the recording ended", "inject", {"recorder": 0.05, "stop": True, "pause": True}),
    ("injected, forks", "inject", {"children": 6}),
    ("a thread for each counter", "thread", {"children": 6}),
    ("one processor", "one", {"children": 6, "recorder": 0.05}),
    ("a dormant agent", "dormant", {"stay": True}),
]
LONG_STOP = ("a host that is stopped for long", "run", {"host_once": 11})


def wait_for(what, condition):
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > PATIENCE_S:
            sys.exit(f"did not happen within {PATIENCE_S} s: {what}")
        time.sleep(0.001)


def child_of(pid):
    """The first child of a process."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return int((f.read().split() or [0])[0])
    except OSError:
        return 0


def processes_that(condition):
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and condition(p)]


def environment_has(pid, text):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return text.encode() in f.read()
    except OSError:
        return False


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().split(b"\0")
    except OSError:
        return []


def stopped_for(pid, seconds):
    try:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pass


class Round:
    def __init__(self, kind, rng):
        self.name, self.how, self.options = kind
        self.rng = rng
        self.children = self.options.get("children", 0)
        self.bytes = (1 + self.children) * THREADS * RECORDS
        with open(LEDGER, "wb") as f:
            f.truncate(self.bytes)
        self.ledger = os.open(LEDGER, os.O_RDONLY)
        if os.path.exists(TRACE):
            os.unlink(TRACE)

    def cell(self, n):
        return os.pread(self.ledger, 1, n)[0]

    def tailor(self, *arguments):
        return [f"{B}/tailor", *arguments]

    def start(self):
        """Starts host and recorder: self.top is what is waited for, self.recorder and self.host are their numbers."""
        host = [f"{B}/hosts/ledger", LEDGER, str(THREADS), str(RECORDS), str(self.children)]
        host += [word for word in ("construct", "pause", "stay") if self.options.get(word)]
        options = {"thread": ["--scope", "thread", "-o", TRACE], "dormant": ["--dormant"]}.get(self.how, ["-o", TRACE])
        run = self.tailor("run", "-q", *options, "--")
        env = dict(os.environ)
        if self.how == "preload":
            env |= {"LD_PRELOAD": f"{B}/libtailor.so", "TAILOR_OUTPUT": TRACE}
            self.top = subprocess.Popen(host, env=env)
            self.host = self.top.pid
            self.recorder = 0
            of_ours = lambda p: command_line(p)[:1] != [host[0].encode()] and environment_has(p, f"TAILOR_OUTPUT={TRACE}")
            found = []
            wait_for("a recorder", lambda: found.extend(processes_that(of_ours)) or found or self.top.poll() is not None)
            self.recorder = found[0] if found else 0
        elif self.how == "inject":
            self.top = subprocess.Popen(host + ["wait"])
            self.host = self.top.pid
            wait_for("a host that waits", lambda: command_line(self.host)[:1] == [host[0].encode()])
            self.attach = subprocess.Popen(self.tailor("attach", "-q", "--inject", "-o", TRACE, str(self.host)))
            self.recorder = self.attach.pid
        elif self.how == "left":
            script = '"$@" & until [ "$(od -An -tu1 -N1 "$2")" -ne 0 ]; do :; done'
            self.top = subprocess.Popen(run + ["sh", "-c", script, "sh"] + host)
            self.recorder = self.host = self.top.pid
        else:
            self.top = subprocess.Popen((["taskset", "-c", "1"] if self.how == "one" else []) + run + host, stdin=subprocess.PIPE)
            self.recorder = self.top.pid
            wait_for("a host", lambda: (child_of(self.recorder) and command_line(child_of(self.recorder))[:1] == [host[0].encode()])
                     or self.top.poll() is not None)
            self.host = child_of(self.recorder)
        if self.how == "dormant":
            p = subprocess.run(self.tailor("start", "-o", TRACE, str(self.host)), capture_output=True, text=True)
            if p.returncode:
                sys.exit(f"tailor start: exit {p.returncode}: {p.stderr}")
            self.top.stdin.close()

    def disturb(self):
        """What happens until the host has ended."""
        o, at = self.options, int(self.rng.uniform(0.05, 0.95) * RECORDS)
        if o.get("kill") or o.get("stop"):
            done = lambda: self.cell(at) or self.top.poll() is not None
        else:
            done = lambda: self.top.poll() is not None
        begin = time.monotonic()
        if "recorder" in o:  # a host that begins while its recorder is stopped has no agent until that goes on
            wait_for("a first record", lambda: IS_THERE in os.pread(self.ledger, self.bytes, 0) or self.top.poll() is not None)
        if "host_once" in o:
            wait_for("some records", lambda: self.cell(at) or self.top.poll() is not None)
            stopped_for(self.host, o["host_once"])
        while not done():
            if time.monotonic() - begin > PATIENCE_S:
                sys.exit(f"{self.name}: did not end within {PATIENCE_S} s")
            if "recorder" in o and self.recorder:
                stopped_for(self.recorder, self.rng.uniform(0.001, o["recorder"]))
            if "host" in o:
                stopped_for(self.host, self.rng.uniform(0.001, o["host"]))
            time.sleep(self.rng.uniform(0.0005, 0.02))
        if o.get("kill") and self.top.poll() is None:
            try:
                os.kill(self.host, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if o.get("stop"):
            self.attach.send_signal(signal.SIGINT)
        self.top.wait(PATIENCE_S)
        if self.how == "inject":
            self.attach.wait(PATIENCE_S)
        if self.how == "left":
            wait_for("the end of what was left behind", lambda: not processes_that(lambda p: LEDGER.encode() in command_line(p)))

    def is_whole(self):
        return os.path.exists(TRACE) and " END " in subprocess.run(self.tailor("dump", TRACE), capture_output=True, text=True).stdout[-300:]

    def compare(self):
        """What is wrong, and the figures of the round."""
        wait_for(f"{self.name}: the end of the trace", self.is_whole)
        in_trace, wrong, losses = bytearray(self.bytes + 1), [], []
        dump = subprocess.Popen(self.tailor("dump", TRACE), stdout=subprocess.PIPE, text=True, errors="replace")
        for line in dump.stdout:
            found = NUMBER.search(line)
            if found:
                numbers = [int(n, 0) for n in found.groups() if n]
                if min(numbers) != max(numbers) or not 0 < numbers[0] <= self.bytes:
                    wrong.append(f"a record that was damaged: {line[:200]}")
                    continue
                in_trace[numbers[0]] += in_trace[numbers[0]] < 255
            elif " LOSS " in line:
                losses.append(line.strip())
        if dump.wait():
            wrong.append(f"tailor dump exited with status {dump.returncode}")
        with open(LEDGER, "rb") as f:
            cells = f.read()
        counts = [cells.count(kind) for kind in range(6)]
        groups = {"returned 0 and is not in the trace": [], "is in the trace more than once": [], "was refused and is in the trace": []}
        missing, twice, refused = groups.values()
        for n, (cell, found) in enumerate(zip(cells, in_trace[1:]), 1):
            if cell == IS_THERE and not found:
                missing.append(n)
            elif found > 1:
                twice.append(n)
            elif found and cell not in (IS_THERE, CALLED):
                refused.append(n)
        for what, numbers in groups.items():
            if numbers:
                wrong.append(f"{len(numbers)} records: each {what}, for example {numbers[:5]}")
        if counts[OTHER]:
            wrong.append(f"{counts[OTHER]} calls returned an error that they cannot")
        if not counts[IS_THERE]:
            wrong.append("no call returned 0")
        return wrong, losses, counts

    def close(self):
        os.close(self.ledger)


def main():
    rng = random.Random(SEED)
    accepted = refused = 0
    for nr in range(ROUNDS):
        kind = LONG_STOP if nr % 25 == 24 else KINDS[nr % len(KINDS)]
        r = Round(kind, rng)
        r.start()
        r.disturb()
        wrong, losses, counts = r.compare()
        r.close()
        accepted += counts[IS_THERE]
        refused += counts[REFUSED]
        print(f"round {nr}, {kind[0]}: {counts[IS_THERE]} accepted, {counts[REFUSED]} refused, {counts[NO_AGENT]} without an agent, "
              f"{counts[CALLED]} calls that did not return", flush=True)
        if wrong:
            sys.exit("\n".join([f"round {nr}, {kind[0]} (SEED={SEED}): expected the records whose call returned 0, and no others", *wrong,
                                *losses]))
    print(f"FIGURE {ROUNDS} rounds, {THREADS} threads: {accepted} records accepted, {refused} refused, each accepted one in its trace")


main()
