# SPDX-License-Identifier: MIT
"""See postgres-crashes-lose-no-more.sh.  postgres_crashes.py BUILD

Each client of pgbench inserts its number and 1, 2, 3, ..., one row a transaction, and logs those that the server has confirmed.
"""
import collections
import glob
import os
import signal
import subprocess
import sys

sys.path[:0] = ["tests", "tests/postgres"]
import cluster
import evidence
import profile

CLIENTS = 8
BEFORE = 400  # transactions, before a backend is killed
VICTIM_NS = 20_000_000  # of its own time: some 80 samples
SCRIPT = "\\set n :n + 1\ninsert into done values (:client_id, :n);\n"
faults = []


def fail(sentence):
    faults.append(sentence)


def cpu_ns(pid):
    return int(open(f"/proc/{pid}/schedstat").read().split()[0])


def rows_of(c):
    """{client: [numbers]}, once the server has recovered."""
    def ask():
        p = subprocess.run([c.bin + "/psql", "-X", "-A", "-t", "-h", c.socket, "-p", str(c.port), "-U", "postgres", "-c",
                            "select client, n from done order by 1, 2"], capture_output=True, text=True)
        return p if p.returncode == 0 else None

    rows = collections.defaultdict(list)
    for line in cluster.wait_for("the server has recovered", ask).stdout.split():
        client, n = line.split("|")
        rows[int(client)].append(int(n))
    return rows


def crash(c, way):
    """pgbench's clients write until one's backend is killed; what became of their transactions."""
    log = c.writable("log-" + way) + "/log"
    with c.session("prepare") as s:
        s.run("drop table if exists done; create table done(client int, n int);")
    p = subprocess.Popen([c.bin + "/pgbench", "-n", "-c", str(CLIENTS), "-j", "2", "-T", "3600", "-D", "n=0", "-f", c.folder + "/script.sql",
                          "-l", "--log-prefix", log, "-h", c.socket, "-p", str(c.port), "-U", "postgres", "postgres"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ, PGAPPNAME="writer"))
    try:
        with c.session("look") as s:
            cluster.wait_for("clients write", lambda: int(s.run("select count(*) from done;")) >= BEFORE)
            victim = int(s.run("select min(pid) from pg_stat_activity where application_name = 'writer';"))
            cluster.wait_for("the victim has worked for many samples", lambda: cpu_ns(victim) > VICTIM_NS)
        os.kill(victim, signal.SIGKILL)
        out = p.communicate(timeout=cluster.PATIENCE_S)[0]
    finally:
        if p.poll() is None:
            p.kill()
            p.communicate()
    confirmed = collections.Counter(int(line.split()[0]) for f in glob.glob(log + "*") for line in open(f))
    rows = rows_of(c)
    in_flight = 0
    for client in range(CLIENTS):
        n, there = confirmed[client], rows[client]
        if there != list(range(1, len(there) + 1)):
            fail(f"{way}: client {client} has a transaction without one before it: {there[-5:]}")
        if len(there) not in (n, n + 1):
            fail(f"{way}: of client {client} the server has confirmed {n} transactions, and {len(there)} are there")
        in_flight += len(there) == n
    if out.count(" aborted in command ") != CLIENTS:
        fail(f"{way}: pgbench says that other than {CLIENTS} clients were interrupted: {out[-2000:]}")
    print(f"{way}: {sum(confirmed.values())} transactions of {CLIENTS} clients confirmed; of those in flight {in_flight} are lost")
    return victim


def check_trace(tailor, trace, way, victim):
    """Of the backends before the crash, and of those behind it."""
    pids = {s.pid for s in profile.samples(tailor, trace)}
    if victim not in pids:
        fail(f"{way}: the trace has no sample of the backend that was killed")
    sessions = {c["name"] for c in profile.report(tailor, trace)["components"] if c["level"] == "session"}
    if not any("behind the crash" in name for name in sessions):
        fail(f"{way}: the trace has no session from behind the crash: {sorted(sessions)}")


def has_mappings(tailor, trace):
    """They are written after counters are opened."""
    return os.path.exists(trace) and " MMAP " in subprocess.run([tailor, "dump", trace], capture_output=True, text=True).stdout


def work_behind(c):
    """Until its processor time is worth many samples."""
    with c.session("behind the crash") as s:
        cluster.wait_for("a backend works", lambda: s.run("select count(*) from generate_series(1, 200000) a, done where n < 3;") and
                         cpu_ns(s.pid) > 300_000_000)


def main():
    tailor = os.path.abspath(sys.argv[1]) + "/tailor"
    try:
        c = cluster.Cluster()
    except LookupError as e:
        evidence.skip(str(e))
    if not os.path.exists(c.bin + "/pgbench"):
        c.remove()
        evidence.skip("pgbench is not installed")
    with c:
        with open(c.folder + "/script.sql", "w") as f:
            f.write(SCRIPT)
        with c.server():
            crash(c, "control")
        trace = c.writable("traces") + "/agent.tlr"
        with c.server(tailor=[tailor, "run", "-q", "-o", trace, "--"]):
            victim = crash(c, "agent")
            work_behind(c)
        check_trace(tailor, trace, "agent", victim)
        trace = c.folder + "/attach.tlr"
        with c.server() as server:
            p = subprocess.Popen([tailor, "attach", "-q", "-o", trace, str(server.pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True)
            try:
                cluster.wait_for("tailor attach records", lambda: p.poll() is not None or has_mappings(tailor, trace))
                victim = crash(c, "attach")
                work_behind(c)
            finally:
                if p.poll() is None:
                    p.send_signal(signal.SIGINT)
                said = p.communicate()[0]
            if p.returncode:
                fail(f"attach: tailor attach: exit {p.returncode}: {said}")
        check_trace(tailor, trace, "attach", victim)
    for sentence in faults:
        print(sentence)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
