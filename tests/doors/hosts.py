# SPDX-License-Identifier: MIT
"""Hosts with planted work.  Each does three kinds of it, heavy, middle and light, until SIGTERM, and says by its own clock what they took."""
import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

from common import PATIENCE_S, Refused, Skip, sh

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../postgres")
import cluster as postgres  # noqa: E402

LABELS = ("heavy", "middle", "light")
TABLES = (500000, 300000, 200000)


class Host:
    """shows: what its report begins with, functions, queries, operators or programs.  names: patterns of the three kinds' names."""
    shows, names, needs = "functions", tuple(rf"(?:^|[ .:*(]){label}\b" for label in LABELS), ()
    warm_s, grain = 1.0, 1  # grain: how many times as much work as of others is recorded, where a clock counts large pieces

    def __init__(self, name, **more):
        self.name = name
        for key, value in more.items():
            setattr(self, key, value)

    def prepare(self, folder):
        self.folder = folder
        self.clock_file = f"{folder}/clock"
        for program, package in self.needs:
            if not shutil.which(program):
                raise Skip(f"there is no {program} (package {package})")

    def end(self):
        """What prepare() made goes."""

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {"PLANTED_CLOCK": self.clock_file}

    def clocks(self):
        """Seconds that the three kinds have taken so far, by process."""
        found = {}
        for name in glob.glob(self.clock_file + ".*"):
            words = open(name, "rb").read().split()
            if len(words) == 3:
                found[int(name.rpartition(".")[2])] = [int(w) / 1e9 for w in words]
        return found

    def clock(self):
        return [sum(kind) for kind in zip([0, 0, 0], *self.clocks().values())]

    def wait_until_warm(self):
        for name in glob.glob(self.clock_file + ".*"):
            os.unlink(name)
        postgres.wait_for(f"{self.name} works", lambda: sum(self.clock()) > self.warm_s)

    @contextlib.contextmanager
    def running(self, before=(), environment=None):
        """Its process.  before: words of a command that starts it."""
        for name in glob.glob(self.clock_file + ".*"):
            os.unlink(name)
        p = subprocess.Popen([*before, *self.command()], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE if before else subprocess.DEVNULL, start_new_session=True,
                             env={**os.environ, **self.environment(), **(environment or {})})
        try:
            postgres.wait_for(f"{self.name} works", lambda: p.poll() is not None or sum(self.clock()) > self.warm_s)
            yield p
        finally:
            self.stop(p)

    def stop(self, p):
        """Ends the host; a recorder above it ends by itself."""
        if p.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGTERM)
        try:
            p.wait(PATIENCE_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGKILL)


class Script(Host):
    def command(self):
        return [word.format(here=HERE) for word in self.words]


class Compiled(Host):
    """by: the words that compile its program, to which `-o NAME` is added."""
    words = ()

    def prepare(self, folder):
        super().prepare(folder)
        sh([*(w.format(here=HERE) for w in self.by[:-1]), "-o", f"{folder}/planted", self.by[-1].format(here=HERE)], cwd=folder)

    def command(self):
        return ["./planted", *self.words]


class Java(Host):
    needs = (("javac", "default-jdk-headless"),)
    warm_s = 10.0  # while a JVM warms up, another work runs

    def prepare(self, folder):
        super().prepare(folder)
        sh(["javac", "-d", folder, HERE + "/Planted.java"])

    def command(self):
        return ["java", "-cp", self.folder, "Planted"]


class Build(Host):
    """make -j2, again and again, of one file that takes half of the time, and of two smaller ones.  Compilers' clocks are their parent's."""
    shows, needs, grain = "programs", (("make", "make"), ("gcc", "gcc")), 5
    names = tuple(rf"{label}\.c\b" for label in LABELS)
    FUNCTION = ("int f{0}(int a, int b) {{ int c = 0; for (int i = 0; i < a; i++) for (int k = i; k < b; k++) if (i % {1}) "
                "c += k / (i + {1}); else c ^= k * {0}; return c; }}\n")

    def prepare(self, folder):
        super().prepare(folder)
        for label, share in zip(LABELS, (50, 30, 20)):
            with open(f"{folder}/{label}.c", "w") as f:
                f.writelines(self.FUNCTION.format(i, i + 2) for i in range(4 * share))
        sh(["gcc", "-O2", "-o", folder + "/timed", HERE + "/timed.c"])
        with open(f"{folder}/Makefile", "w") as f:
            f.write("all: heavy.o middle.o light.o\n%.o: %.c\n\t./timed gcc -O2 -c -o $@ $<\n")

    def command(self):
        return ["sh", "-c", "while :; do rm -f *.o; make -s -j2; done"]


class Client(Host):
    """A host whose clients are in this process: ask(i) has the work of kind i done, once."""
    def prepare(self, folder):
        super().prepare(folder)
        self.took, self.server_pid = [0.0, 0.0, 0.0], 0

    def clocks(self):
        return {self.server_pid: list(self.took)}

    @contextlib.contextmanager
    def asking(self, clients):
        """clients: functions that ask for kind i and return the seconds that the server took for it."""
        end = threading.Event()

        def go(client):
            while not end.is_set():
                for i in range(3):
                    self.took[i] += client(i)
        threads = [threading.Thread(target=go, args=(c,)) for c in clients]
        for t in threads:
            t.start()
        try:
            yield
        finally:
            end.set()
            for t in threads:
                t.join()


class Postgres(Client):
    """Three tables, each scanned with another literal each time; the first one by parallel workers, too.  Sessions take turns."""
    shows, names = "queries", tuple(rf"\b{label}\b" for label in LABELS)

    def prepare(self, folder):
        super().prepare(folder)
        try:
            self.cluster = postgres.Cluster()
        except LookupError as e:
            raise Skip(str(e)) from e
        with self.cluster.server(), self.cluster.session() as s:
            for label, rows in zip(LABELS, TABLES):
                s.run(f"create table {label} as select i as x from generate_series(1, {rows}) i; analyze {label};")
        self.folder = self.cluster.writable("doors")
        self.literal = 0

    def end(self):
        self.cluster.remove()

    @contextlib.contextmanager
    def running(self, before=(), environment=None):
        with self.cluster.server(tailor=before, settings={"max_parallel_workers_per_gather": 0}, env=environment) as server:
            with self.cluster.session() as session:
                def client(i):
                    begin = time.monotonic()
                    self.literal += 1
                    session.run(f"select count(*) from {LABELS[i]} where x % 1000 < {self.literal % 10};")
                    return time.monotonic() - begin
                server.process.host_pid, self.server_pid = server.pid, session.pid
                with self.asking([client]):
                    postgres.wait_for("the server works", lambda: sum(self.took) > self.warm_s)
                    yield server.process

    def stop(self, p):
        os.kill(p.host_pid, signal.SIGINT)
        p.wait(PATIENCE_S)


class Sqlite(Host):
    """The shell, with statements by a pipe; its truth is what they take alone."""
    shows, names = "queries", Postgres.names
    needs = (("sqlite3", "sqlite3"),)

    def command(self):
        return [HERE + "/sqlite.sh", self.clock_file]


class DuckDB(Host):
    """In Python, as PyPI has it."""
    shows, names = "queries", Postgres.names

    def prepare(self, folder):
        super().prepare(folder)
        self.python = f"{self.at}/bin/python3"
        if not os.path.exists(self.at + "/complete"):
            try:
                sh(["/usr/bin/python3", "-m", "venv", self.at])
                sh([self.at + "/bin/pip", "install", "-q", "duckdb"])
            except (Refused, OSError) as e:
                raise Skip(f"duckdb cannot be had from PyPI: {str(e)[-160:]}") from e
            open(self.at + "/complete", "w").close()

    def command(self):
        return [self.python, HERE + "/duck.py"]


def hosts(build):
    jitreg = HERE + "/../../jitreg"
    return [
        Compiled("engine", by=["g++", "-O2", "-g", "-I" + jitreg, "{here}/planted.cc"], words=("engine",), shows="operators"),
        Compiled("c++-g", by=["g++", "-O2", "-g", "-I" + jitreg, "{here}/planted.cc"]),
        Compiled("c++", by=["g++", "-O2", "-I" + jitreg, "{here}/planted.cc"]),
        Compiled("go", by=["go", "build", "{here}/planted.go"], needs=(("go", "golang-go"),)),
        Script("python", words=("/usr/bin/python3", "{here}/planted.py")),
        Script("prefork", words=("/usr/bin/python3", "{here}/planted.py", "2")),
        Script("node", words=("node", "{here}/planted.js"), needs=(("node", "nodejs"),), warm_s=2.0),
        Script("cluster", words=("node", "{here}/planted.js", "2"), needs=(("node", "nodejs"),), warm_s=3.0),
        Java("java"),
        Build("build"),
        Postgres("postgresql"),
        Sqlite("sqlite"),
        DuckDB("duckdb", at=build + "/doors/duckdb"),
    ]
