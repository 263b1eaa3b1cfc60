# SPDX-License-Identifier: MIT
"""The memo's call stacks against libunwind's, on live hosts.  unwinders.py BUILD SECONDS SAMPLES HOST...

Of all samples that both walk to the bottom every one must have the same frames; every kind of difference is printed.  With either
unwinder a report says the same.  Each host runs for SECONDS, then `deep` again until there are SAMPLES of them.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path[:0] = ["tests", "tests/hosts"]
from evidence import ENOUGH_S, allowed_rate, skip  # noqa: E402
from jits import POSTGRES_BIN  # noqa: E402

PATIENCE_S = 300
B, SECONDS, WANTED, HOSTS = os.path.abspath(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
HERE = os.path.dirname(os.path.abspath(__file__))
PG = os.path.dirname(POSTGRES_BIN)


def run(command, **kw):
    p = subprocess.run(command, capture_output=True, text=True, **kw)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}\n{p.stdout[-2000:]}{p.stderr[-2000:]}")
    return p.stdout


def record(trace, command, stack=16384, rate=10000):
    run([f"{B}/tailor", "run", "-q", "--rate", str(allowed_rate(rate)), "--stack", str(stack), "-o", trace, "--"] + command)


def engine(trace):
    record(trace, [f"{B}/engine", "--query", "q3", "--scale", "0.2", "--threads", "2", "--seconds", str(SECONDS), "--tag", "none"])


def tagged(trace):
    record(trace, [f"{B}/engine", "--query", "fig9", "--scale", "0.2", "--threads", "2", "--seconds", str(SECONDS)], 2048)


def deep(trace, seconds=SECONDS):
    record(trace, [f"{B}/hosts/deep", str(seconds), "2"], 8192, 20000)


LUA = """
local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end
local s, x = os.clock(), 0
while os.clock() - s < %f do
	x = x + fib(20)
	local a = {}
	for i = 1, 10000 do a[i] = (i * 7919) %% 10007 end
	table.sort(a, function(p, q) return p < q end)
	local t = {}
	for i = 1, 1000 do t[#t + 1] = string.format("%%d", i) end
	x = x + #table.concat(t)
end
"""


def luajit(trace):
    script = trace + ".lua"
    with open(script, "w") as f:
        f.write(LUA % SECONDS)
    record(trace, ["luajit", script], 16384, 20000)


def numba(trace):
    record(trace, ["/usr/bin/python3", f"{HERE}/../hosts/numba_host.py", str(SECONDS)], 32768)


def node(trace):
    where = os.path.dirname(trace)
    run([f"{B}/tailor", "run", "-q", "--rate", str(allowed_rate(10000)), "--stack", "16384", "-o", trace, "--", "node",
         "--perf-prof", "--perf-prof-unwinding-info", "--perf-prof-delete-file", f"{HERE}/../hosts/jits/fib.js", str(SECONDS),
         f"{where}/rounds"],
        cwd=where)


def as_postgres(command, **kw):
    return run(["runuser", "-u", "postgres", "--"] + command, **kw)


QUERY = """
create table t as select i as a, i %% 1000 as b, repeat('x', i %% 50) as c from generate_series(1, 300000) i;
select count(*), sum(a * b + 1), avg(length(c)) from t where a %% 7 > 2 and b between 10 and 900;
"""


def postgres(trace):
    """One backend that compiles each query's expressions; the trace is of the whole server."""
    where = tempfile.mkdtemp(prefix="unwinders-pg-")
    server = None
    try:
        for name in ("tailor", "libtailor.so"):
            shutil.copy(f"{B}/{name}", where)
        shutil.chown(where, "postgres")
        as_postgres([f"{PG}/bin/initdb", "-D", f"{where}/data", "-A", "trust"], cwd=where)
        options = ["-c", "jit=on", "-c", "jit_above_cost=0", "-c", "jit_inline_above_cost=0", "-c", "jit_optimize_above_cost=0",
                   "-c", "listen_addresses=", "-c", f"unix_socket_directories={where}", "-c", "max_parallel_workers_per_gather=0"]
        server = subprocess.Popen(["runuser", "-u", "postgres", "--", f"{where}/tailor", "run", "-q", "--follow", "--rate",
                                   str(allowed_rate(10000)),
                                   "--stack", "32768", "-o", f"{where}/t.tlr", "--", f"{PG}/bin/postgres", "-D", f"{where}/data"] +
                                  options, cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        psql = ["psql", "-h", where, "-d", "postgres", "-q", "-o", "/dev/null"]
        begin = time.monotonic()
        while not os.path.exists(f"{where}/.s.PGSQL.5432") or subprocess.run(
                ["runuser", "-u", "postgres", "--"] + psql + ["-c", "select 1"], capture_output=True, cwd=where).returncode != 0:
            if time.monotonic() > begin + PATIENCE_S or server.poll() is not None:
                sys.exit(f"postgres does not answer after {time.monotonic() - begin:.0f} s; exit status {server.poll()}")
            time.sleep(0.1)
        create, query = [q for q in (QUERY.replace("%%", "%")).strip().split("\n")]
        as_postgres(psql + ["-c", create], cwd=where)
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            as_postgres(psql + ["-c", ";".join([query.rstrip(";")] * 20)], cwd=where)
        as_postgres([f"{PG}/bin/pg_ctl", "-D", f"{where}/data", "-m", "fast", "stop"], cwd=where)
        server.wait(PATIENCE_S)
        shutil.move(f"{where}/t.tlr", trace)
    finally:
        if server and server.poll() is None:
            server.terminate()
            server.wait(PATIENCE_S)
        shutil.rmtree(where, ignore_errors=True)


NEEDS = {
    "luajit": lambda: shutil.which("luajit"),
    "numba": lambda: subprocess.run(["/usr/bin/python3", "-c", "import numba"], capture_output=True).returncode == 0,
    "node": lambda: shutil.which("node"),
    "postgres": lambda: os.path.exists(f"{PG}/lib/llvmjit.so") and os.geteuid() == 0 and shutil.which("runuser"),
}


def compare(host, trace):
    """Returns samples that both walk to the bottom, how many of these have the same frames, all samples, and whether all is well."""
    p = subprocess.run([f"{B}/tailor", "unwind", "--check", trace], capture_output=True, text=True)
    m = re.search(r"by both unwinders: (\d+) stacks, same frames in (\d+)", p.stdout)
    a = re.search(r"^all: (\d+) stacks, same frames and same end in (\d+)", p.stdout, re.M)
    if p.returncode not in (0, 1) or not m or not a:
        sys.exit(f"tailor unwind --check {host}: exit {p.returncode}\n{p.stdout}{p.stderr}")
    print(f"FIGURE {host}: {m[1]} samples walked to the bottom by both, the same frames in {m[2]};"
          f" of all {a[1]} the same frames and end in {a[2]}", flush=True)
    for line in p.stdout.splitlines():
        if line.startswith("memo "):
            print(f"FIGURE {host}: {line}")
    reports = [run([f"{B}/tailor", "report", "--json", "--unwinder", u, trace]) for u in ("memo", "libunwind")]
    if reports[0] != reports[1]:
        sys.exit(f"{host}: tailor report --json differs with --unwinder libunwind:\n{reports[0][:500]}\n{reports[1][:500]}")
    return int(m[1]), int(m[2]), int(a[1]), p.returncode == 0


def main():
    both = same = everything = 0
    bad = []
    with tempfile.TemporaryDirectory() as d:
        def add(host, *more):
            nonlocal both, same, everything
            trace = f"{d}/{host}.tlr"
            globals()[host](trace, *more)
            of_both, of_same, of_all, well = compare(host, trace)
            both, same, everything = both + of_both, same + of_same, everything + of_all
            if not well:
                bad.append(host)
            os.unlink(trace)
            return of_both

        for host in HOSTS:
            if host in NEEDS and not NEEDS[host]():
                print(f"FIGURE {host} is not here")
            else:
                add(host)
        begin, seconds = time.monotonic(), SECONDS
        while both < WANTED and not bad and time.monotonic() < begin + ENOUGH_S:
            got = add("deep", seconds)
            seconds = min(2 * seconds, max((WANTED - both) * seconds / max(got, 1), 0.1))
    print(f"FIGURE all hosts: {both} samples walked to the bottom by both, the same frames in {same}; {everything} in all")
    if bad or both != same:
        sys.exit(f"expected the same frames, got others in {', '.join(bad)}")
    if both < WANTED:
        skip(f"this machine gave only {both} samples in {time.monotonic() - begin:.0f} s that both walk to the bottom, where {WANTED} are "
             f"needed; their frames are the same")


main()
