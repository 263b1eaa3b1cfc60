#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Namespaces x ways of recording x hosts, with planted work: each cell is as outside of the namespace, or says in a sentence what the namespace
hides.  A table of all cells is printed; a cell that is neither makes the exit status 1.

    check.py BUILD [--host NAME] [--namespace NAME] [--way NAME] [--seconds S]     (as root)
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../doors")
from common import PATIENCE_S, Refused, Skip, one_line, sh  # noqa: E402
from hosts import LABELS, hosts  # noqa: E402
from readers import WIDE, tables  # noqa: E402

# Words in front of a command that put it into a namespace.  A mount namespace has a /tmp of its own, as containers have.
NAMESPACES = {
    "outside": [],
    "time +": ["unshare", "--fork", "--time", "--monotonic", "86400", "--boottime", "86400"],
    "time -": ["unshare", "--fork", "--time", "--monotonic", "-60", "--boottime", "-60"],
    "pid": ["unshare", "--fork", "--pid", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh"],  # process 1 gets no SIGTERM
    "mount": ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /tmp && exec "$@"', "sh"],
    "user": ["unshare", "--user", "--map-root-user"],
    "cgroup": ["unshare", "--cgroup"],
}
HOSTS = ("engine", "c++-g", "node", "java", "python")
PROGRAMS = {"engine": "planted", "c++-g": "planted", "node": "node", "java": "java",
            "python": os.path.basename(os.path.realpath("/usr/bin/python3"))}
# No agent is loaded into programs of a whole machine, so these write a perf map, which lies in their own /tmp under their own process number.
MAPS = {"node": {"NODE_OPTIONS": "--perf-basic-prof"}}
APART = 15  # points by which a share may differ from that outside: recordings of seconds on a busy machine differ by less than ten
NAMED = 60  # percent of the samples outside, of which the three kinds have to be for anything to be compared
LEAST = 300  # samples without which a recording decides nothing
TOLD = re.compile(r"namespace|another root")


class Cell:
    """What a recording said: the shares of the three kinds of work, and all sentences."""
    def __init__(self, shares, text):
        self.shares, self.text = shares, text

    def judge(self, outside):
        """as outside, told, or wrong."""
        if all(abs(a - b) <= APART for a, b in zip(self.shares, outside.shares)):
            return "right"
        return "told" if TOLD.search(self.text) else "WRONG"


def shares_of(host, text):
    """Of the first table that has a kind of work: the share of each."""
    labelled = re.compile("|".join(host.names))
    rows = next((t for t in tables(text) if any(labelled.search(name) for name, _ in t)), [])
    return [sum(share for name, share in rows if re.search(pattern, name)) for pattern in host.names]


def work_for(host, seconds):
    """Waits until the host has worked so long, by its own clock."""
    until, begin = sum(host.clock()) + seconds, time.monotonic()
    while sum(host.clock()) < until and time.monotonic() - begin < PATIENCE_S:
        time.sleep(0.1)


def leaf_of(pid):
    """The host below the commands that made its namespace."""
    while True:
        words = open(f"/proc/{pid}/cmdline", "rb").read().split(b"\0")
        children = open(f"/proc/{pid}/task/{pid}/children").read().split()
        if os.path.basename(words[0]) not in (b"unshare", b"sh") or not children:
            return pid
        pid = int(children[0])


def judge_trace(tailor, host, trace, messages):
    text = sh([tailor, "report", trace], env=WIDE) + sh([tailor, "report", "--view", "warnings", trace], env=WIDE)
    nr = re.search(r"(\d+) samples", text)
    return (Cell(shares_of(host, text), text + messages), int(nr[1]) if nr else 0)


def by_run(tailor, host, folder, words, seconds):
    trace = folder + "/t.tlr"
    with host.running(before=[tailor, "run", "-o", trace, "--", *words]) as p:
        work_for(host, seconds)
    messages = p.stderr.read().decode(errors="replace")
    return judge_trace(tailor, host, trace, messages)


def by_attach(tailor, host, folder, words, seconds):
    trace = folder + "/t.tlr"
    with host.running(before=words) as p:
        end = ["--inject"] if host.name in ("node", "python") else []
        a = subprocess.run([tailor, "attach", *end, "-d", str(seconds), "-o", trace, str(leaf_of(p.pid))], capture_output=True,
                           stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
    said = (a.stdout + a.stderr).decode(errors="replace")
    if a.returncode:
        return Cell([0, 0, 0], said), LEAST
    return judge_trace(tailor, host, trace, said)


def by_watch(tailor, host, folder, words, seconds):
    """The recorder of the whole machine is in the namespace, too."""
    store = folder + "/s.tlrs"
    for name in (store, store + ".epochs"):
        shutil.rmtree(name, ignore_errors=True) if os.path.isdir(name) else os.path.exists(name) and os.unlink(name)
    script = ('"$@" & host=$!; while [ ! -s "$CLOCK".* ]; do sleep 0.1; done; "$TAILOR" watch --all --epochs 10s --duration "$SECONDS_" '
              '--store "$STORE"; status=$?; kill "$host"; exit $status')
    for name in os.listdir(folder):
        if name.startswith("clock."):
            os.unlink(f"{folder}/{name}")
    p = subprocess.Popen([*words, "bash", "-c", script, "bash", *host.command()], cwd=host.folder, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                         env={**os.environ, **host.environment(), **MAPS.get(host.name, {}), "TAILOR": tailor, "STORE": store, "CLOCK": host.clock_file,
                              "SECONDS_": str(seconds)})
    try:
        said = p.communicate(timeout=PATIENCE_S)[0].decode(errors="replace")
    finally:
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if p.returncode:
        return Cell([0, 0, 0], said), LEAST
    text = sh([tailor, "db", "report", store, "--process", PROGRAMS[host.name]], env=WIDE)
    return Cell(shares_of(host, text), text + said), LEAST


WAYS = {"run": by_run, "attach": by_attach, "watch --all": by_watch}


def record(tailor, host, folder, namespace, way, seconds):
    """A cell with enough samples, or Skip."""
    while True:
        cell, nr = WAYS[way](tailor, host, folder, NAMESPACES[namespace], seconds)
        if nr >= LEAST:
            return cell
        seconds *= 2
        if seconds > PATIENCE_S / 4:
            raise Skip(f"only {nr} samples")


def check_host(tailor, host, folder, a, table):
    host.prepare(folder)
    bad = 0
    for way in a.way or WAYS:
        try:
            outside = record(tailor, host, folder, "outside", way, a.seconds)
        except Refused as e:
            table[host.name, way, "outside"] = "-"
            print(f"{host.name}, {way}: nothing to compare: {one_line(str(e))}")
            continue
        table[host.name, way, "outside"] = "/".join(f"{share:.0f}" for share in outside.shares)
        if sum(outside.shares) < NAMED:
            print(f"{host.name}, {way}: outside of a namespace only {sum(outside.shares):.0f} % are on the three kinds: nothing to compare")
            continue
        for namespace in a.namespace or list(NAMESPACES)[1:]:
            try:
                cell = record(tailor, host, folder, namespace, way, a.seconds)
                verdict = cell.judge(outside)
                said = "/".join(f"{share:.0f}" for share in cell.shares)
                if verdict == "WRONG":
                    print(one_line(cell.text, 400))
            except (Skip, Refused) as e:
                verdict, said = ("undecided" if isinstance(e, Skip) else "WRONG"), one_line(str(e))
            table[host.name, way, namespace] = f"{verdict} {said}" if verdict != "told" else "told"
            bad |= verdict == "WRONG"
            print(f"{host.name}, {way}, {namespace}: {verdict} {said} (outside {table[host.name, way, 'outside']})", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("--host", action="append", choices=HOSTS)
    parser.add_argument("--namespace", action="append", choices=list(NAMESPACES)[1:])
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--seconds", type=int, default=3)
    a = parser.parse_args()
    if os.geteuid():
        sys.exit("namespaces are made by root: run this as root")
    bad, table, build = 0, {}, os.path.abspath(a.build)
    for host in hosts(build):
        if host.name not in (a.host or HOSTS):
            continue
        folder = tempfile.mkdtemp(prefix="namespaces-", dir=build)  # not below /tmp, which one of the namespaces has for itself
        os.chmod(folder, 0o777)
        try:
            bad |= check_host(build + "/tailor", host, folder, a, table)
        except Skip as e:
            print(f"{host.name}: skipped, because {e}")
        finally:
            host.end()
            shutil.rmtree(folder, ignore_errors=True)
    columns = ["outside", *(a.namespace or list(NAMESPACES)[1:])]
    print(f"\n| host, way: shares of {', '.join(LABELS)} | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for host, way in dict.fromkeys(key[:2] for key in table):
        print(f"| {host}, {way} | " + " | ".join(table.get((host, way, c), "-") for c in columns) + " |")
    return bad


if __name__ == "__main__":
    sys.exit(main())
