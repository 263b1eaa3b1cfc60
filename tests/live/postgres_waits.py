# SPDX-License-Identifier: MIT
"""See postgres-waits.sh.  postgres_waits.py BUILD"""
import os
import signal
import subprocess
import sys
import time

sys.path[:0] = ["tests", "tests/postgres"]
import cluster
import evidence
import profile

TAILOR = os.path.abspath(sys.argv[1]) + "/tailor"
EVENTS = ["-e", "task-clock,context-switches"]
ATTEMPTS = 5  # each wait is twice as long as before: the server is asked what it waits for while it does
faults = []


def waits(trace):
    """[(node, wait event, session, seconds)] of the switches that were waited for."""
    p = subprocess.run([TAILOR, "report", "--samples", "--mark", "all", "--event", "context-switches", trace], capture_output=True, text=True,
                       check=True)
    lines = [line.split("\t") for line in p.stdout.splitlines()]
    at = {name: n for n, name in enumerate(lines[0])}
    return [tuple(profile.split(f[at[c]])[0] if c in at else "" for c in ("node", "wait", "session")) + (int(f[at["weight"]]) / 1e9,)
            for f in lines[1:]]


def record(c, server, trace, work):
    p = subprocess.Popen([TAILOR, "attach", "-q", "-o", trace, *EVENTS, str(server.pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True)
    cluster.wait_for("tailor attach records", lambda: p.poll() is not None or (os.path.exists(trace) and " MMAP " in subprocess.run(
        [TAILOR, "dump", trace], capture_output=True, text=True).stdout))
    if p.poll() is not None:
        said = p.communicate()[0]
        if "not permitted" in said:
            evidence.skip("context switches may not be recorded: " + said.strip())
        raise cluster.Failed(f"tailor attach: exit {p.returncode}: {said}")
    work()
    p.send_signal(signal.SIGINT)
    said = p.communicate()[0]
    if p.returncode:
        raise cluster.Failed(f"tailor attach: exit {p.returncode}: {said}")
    return waits(trace)


def until(c, server, what, work, holds):
    got = []
    for n in range(ATTEMPTS):
        got = record(c, server, f"{c.folder}/{what}.tlr", lambda: work(0.5 * 2**n))
        if any(holds(*w) for w in got):
            return
    faults.append(f"{what}: not among the waits {sorted(set(w[:3] for w in got))}")


def main():
    try:
        c = cluster.Cluster()
    except LookupError as e:
        evidence.skip(str(e))
    with c, c.server() as server, c.session("one") as one, c.session("two") as two:
        if f"X({c.version}, " not in open("agent/recorder/engines/postgres_wait_names.h", encoding="utf-8").read():
            evidence.skip(f"wait events of PostgreSQL {c.version} have no names here")
        one.run("create table t(i int); insert into t select 1;")

        def lock(seconds):
            one.run("begin; update t set i = 2;")
            two.send("update t set i = 3;")
            time.sleep(seconds)
            one.run("commit;")
            two.answer()

        def idle(seconds):
            one.run("select 1;")
            time.sleep(seconds)
            one.run("select 1;")

        until(c, server, "sleep", lambda seconds: one.run(f"select pg_sleep({seconds});"),
              lambda node, wait, session, s: (node, wait) == ("Result", "Timeout:PgSleep") and " one" in session and s >= 0.5)
        until(c, server, "lock", lock,
              lambda node, wait, session, s: (node, wait) == ("Update on t", "Lock:transactionid") and " two" in session)
        until(c, server, "client", idle,
              lambda node, wait, session, s: (node, wait) == ("(client communication)", "Client:ClientRead") and " one" in session)
        shown = subprocess.run([TAILOR, "report", "--view", "offcpu", f"{c.folder}/sleep.tlr"], capture_output=True, text=True).stdout
        if "Off-CPU time by wait event" not in shown or "Timeout:PgSleep" not in shown:
            faults.append("--view offcpu has no Timeout:PgSleep by wait event:\n" + shown)
    if faults:
        print("\n".join(faults))
        sys.exit(1)


main()
