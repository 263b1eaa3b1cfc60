# SPDX-License-Identifier: MIT
"""Ways of recording.  Each takes a host and gives a Recording: a trace, or a store, what tailor said, and what the host's work took."""
import contextlib
import os
import subprocess
import time

from common import PATIENCE_S, Refused, Skip, sh

SECONDS = float(os.environ.get("DOOR_SECONDS", 3))


class Recording:
    """times: how often as long as SECONDS."""
    def __init__(self, host, folder, tailor, times):
        self.host, self.folder, self.tailor, self.seconds = host, folder, tailor, SECONDS * times
        self.own_trace, self.own_store, self.said, self.truth, self.whole_machine = None, None, "", None, False

    def file(self, name):
        return f"{self.folder}/{name}"

    def trace(self):
        if not self.own_trace:
            self.own_trace = self.file("of_store.tlr")
            sh([self.tailor, "db", "trace", self.own_store, "-o", self.own_trace])
        return self.own_trace

    def store(self):
        if not self.own_store:
            self.own_store = self.file("of_trace.tlrs")
            sh([self.tailor, "db", "add", self.own_store, self.own_trace])
        return self.own_store

    @contextlib.contextmanager
    def timed(self):
        """What the host's work takes meanwhile."""
        before = self.host.clock()
        yield
        took = [b - a for a, b in zip(before, self.host.clock())]
        self.truth = [100 * t / sum(took) for t in took] if sum(took) else None

    def tell(self, *arguments):
        p = subprocess.run([self.tailor, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S)
        self.said += (p.stdout + p.stderr).decode(errors="replace")
        if p.returncode:
            raise Refused(self.said)


def processes_below(pid):
    """PID and those below it, parents first."""
    found = [pid]
    for p in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{p}/task"):
                found += map(int, open(f"/proc/{p}/task/{task}/children").read().split())
    return found


def process_of(p):
    return getattr(p, "host_pid", p.pid)


def run(r):
    r.own_trace = r.file("t.tlr")
    with r.host.running([r.tailor, "run", "-o", r.own_trace, "--"]) as p, r.timed():
        time.sleep(r.seconds)
    if p.stderr:
        r.said = p.stderr.read().decode(errors="replace")


def attach(r, *options):
    r.own_trace = r.file("t.tlr")
    with r.host.running() as p, r.timed():
        r.tell("attach", *options, "-d", f"{r.seconds:g}", "-o", r.own_trace, str(process_of(p)))


def inject(r):
    attach(r, "--inject")


def preload(r):
    r.own_trace = r.file("t.tlr")
    with r.host.running(environment={"LD_PRELOAD": os.path.dirname(r.tailor) + "/libtailor.so", "TAILOR_OUTPUT": r.own_trace,
                                     "TAILOR_COMMAND": r.tailor}), r.timed():
        time.sleep(r.seconds)
    begin = time.monotonic()
    while not (os.path.exists(r.own_trace) and b"END" in subprocess.run([r.tailor, "dump", r.own_trace], capture_output=True).stdout[-2000:]):
        if time.monotonic() - begin > PATIENCE_S:
            raise Refused("the recorder of a preloaded host wrote no trace")
        time.sleep(0.2)


def dormant(r):
    r.own_trace = r.file("t.tlr")
    with r.host.running([r.tailor, "run", "--dormant", "--"]) as p, r.timed():
        last = None
        for pid in processes_below(p.pid):
            try:
                r.tell("start", "-o", r.own_trace, str(pid))
                last = None
                break
            except Refused as e:
                last = e
        if last:
            raise last
        time.sleep(r.seconds)
        r.tell("stop", str(pid))


def watch(r, *whom):
    r.own_store = r.file("w.tlrs")
    epoch_s = r.seconds / 2
    with r.host.running() as p, r.timed():
        r.tell("watch", "--store", r.own_store, "--epochs", f"{epoch_s * 1000:.0f}ms", "--cost", "20%", "-d", f"{2 * epoch_s:g}",
               *(whom or [str(process_of(p))]))


def watch_all(r):
    r.whole_machine = True
    watch(r, "--all")


def record_all(r):
    r.own_trace, r.whole_machine = r.file("t.tlr"), True
    with r.host.running(), r.timed():
        r.tell("record", "-a", "-o", r.own_trace, "--", "sleep", f"{r.seconds:g}")


def imported(r):
    r.own_trace = r.file("t.tlr")
    with r.host.running() as p, r.timed():
        pids = ",".join(map(str, processes_below(process_of(p))))
        done = subprocess.run(["perf", "record", "-q", "-F", "2000", "-e", "task-clock", "-g", "-o", r.file("perf.data"), "-p", pids, "--",
                               "sleep", f"{r.seconds:g}"], capture_output=True)
    if done.returncode:
        raise Skip("perf record: " + done.stderr.decode(errors="replace")[-100:])
    r.tell("import", "-o", r.own_trace, r.file("perf.data"))


WAYS = {"run": run, "attach": attach, "inject": inject, "preload": preload, "dormant": dormant, "watch": watch, "watch-all": watch_all,
        "record-all": record_all, "import": imported}
