# SPDX-License-Identifier: MIT
"""Ways of recording.  Each takes a host and gives a Recording: a trace, or a store, what tailor said, and what the host's work took."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

from common import PATIENCE_S, Refused, Skip, sh

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../postgres")
import cluster as postgres  # noqa: E402

SECONDS = float(os.environ.get("DOOR_SECONDS", 3))


class Recording:
    """times: how often as much as SECONDS of the host's processor time."""
    def __init__(self, host, folder, tailor, times):
        self.host, self.folder, self.tailor, self.seconds = host, folder, tailor, SECONDS * times * host.grain
        self.own_trace, self.own_store, self.said, self.truth, self.whole_machine = None, None, "", None, False
        self.messages = []  # what the last reader printed beside its answer
        self.process, self.program = None, None  # of a whole machine: the PID whose work is judged, and its program

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

    def work(self):
        """Waits until the host has worked enough, however long that takes, at all three kinds; notes what each took."""
        before = self.host.clocks()

        def took():
            return {pid: [b - a for a, b in zip(before.get(pid, (0, 0, 0)), clock)] for pid, clock in self.host.clocks().items()}

        def together():
            return [sum(kind) for kind in zip([0, 0, 0], *took().values())]
        postgres.wait_for(f"{self.host.name} works", lambda: sum(together()) > self.seconds and min(together()) > self.seconds / 10)
        judged = together()
        if self.whole_machine and self.host.shows != "programs":
            self.process, judged = max(took().items(), key=lambda item: sum(item[1]))
            self.program = os.path.basename(os.readlink(f"/proc/{self.process}/exe"))
        self.truth = [100 * t / sum(judged) for t in judged]

    def tell(self, *arguments):
        p = subprocess.run([self.tailor, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S)
        self.said += (p.stdout + p.stderr).decode(errors="replace")
        if p.returncode:
            raise Refused(self.said)

    def tell_while_working(self, *command):
        """A recorder that is stopped by Ctrl-C when the host has worked enough."""
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            self.work()
            p.send_signal(signal.SIGINT)
            self.said += p.communicate(timeout=PATIENCE_S)[0].decode(errors="replace")
        finally:
            p.kill()
        if p.returncode not in (0, -signal.SIGINT):
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
    with r.host.running([r.tailor, "run", "-o", r.own_trace, "--"]) as p:
        r.work()
    if p.stderr:
        r.said = p.stderr.read().decode(errors="replace")


def attach(r, *options):
    r.own_trace = r.file("t.tlr")
    with r.host.running() as p:
        r.tell_while_working(r.tailor, "attach", *options, "-o", r.own_trace, str(process_of(p)))


def inject(r):
    attach(r, "--inject")


def is_complete(r):
    """A trace that has not grown for a while is read, which takes long where it is large."""
    def size():
        return os.path.getsize(r.own_trace) if os.path.exists(r.own_trace) else 0
    before = size()
    time.sleep(0.5)
    if not before or size() != before:
        return False
    return b'"record": "END"' in subprocess.run([r.tailor, "dump", "--json", r.own_trace], capture_output=True).stdout[-2000:]


def preload(r):
    r.own_trace = r.file("t.tlr")
    with r.host.running(environment={"LD_PRELOAD": os.path.dirname(r.tailor) + "/libtailor.so", "TAILOR_OUTPUT": r.own_trace,
                                     "TAILOR_COMMAND": r.tailor}):
        r.work()
    postgres.wait_for("the recorder of a preloaded host has ended", lambda: is_complete(r))


def dormant(r):
    r.own_trace = r.file("t.tlr")
    with r.host.running([r.tailor, "run", "--dormant", "--"]) as p:
        pid = process_of(p) if process_of(p) != p.pid else next(iter(processes_below(p.pid)[1:]), p.pid)
        r.tell("start", "-o", r.own_trace, str(pid))
        r.work()
        r.tell("stop", str(pid))


def watch(r, *whom):
    r.own_store = r.file("w.tlrs")
    with r.host.running() as p:
        r.tell_while_working(r.tailor, "watch", "--store", r.own_store, "--epochs", "2s", "--cost", "20%", *(whom or [str(process_of(p))]))


def watch_all(r):
    r.whole_machine = True
    watch(r, "--all")


def record_all(r):
    r.own_trace, r.whole_machine = r.file("t.tlr"), True
    with r.host.running():
        r.tell_while_working(r.tailor, "record", "-a", "-o", r.own_trace)


def imported(r):
    if not shutil.which("perf"):
        raise Skip("there is no perf (package linux-perf)")
    r.own_trace = r.file("t.tlr")
    with r.host.running() as p:
        pids = ",".join(map(str, processes_below(process_of(p))))
        r.tell_while_working("perf", "record", "-F", "2000", "-e", "task-clock", "-g", "-o", r.file("perf.data"), "-p", pids)
    r.said = ""
    r.tell("import", "-o", r.own_trace, r.file("perf.data"))


WAYS = {"run": run, "attach": attach, "inject": inject, "preload": preload, "dormant": dormant, "watch": watch, "watch-all": watch_all,
        "record-all": record_all, "import": imported}
