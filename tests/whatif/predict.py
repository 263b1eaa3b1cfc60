#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predictions of tailor whatif beside what is measured later: tests/whatif/predict.py TAILOR TASKS [OUT [ENGINE]]

Every prediction is written into OUT/predictions.tsv, with the checksum of its trace, before the runs that it is compared with, which follow at
once: the speed of a shared machine changes within minutes.  A cell is one
prediction; what is measured is the median of ROUNDS runs without a recording.  Environment, beside cells.py's:

  SECONDS_OF_WORK=1.2  processor time of a run
  ONLY="cores quota"   some kinds of cells: cores, operator, lock, skew, quota, disk, engine, sort, postgres, node, blocks, spark
  PROGRAMS="even few"  some programs of cores
"""
import glob, os, pwd, shutil, subprocess, sys
from cells import CORES, HERE, PREFIX, Cells, run

TAILOR, TASKS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
OUT = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else "build/whatif")
ENGINE = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
FOLDER = os.path.dirname(os.path.abspath(__file__))
WORK_S = float(os.environ.get("SECONDS_OF_WORK", 1.2))
ONLY = os.environ.get("ONLY", "cores operator lock skew quota disk engine sort postgres node blocks spark").split()
THREADS = str(max(CORES))
WORKERS = str(max(4, *CORES))  # of real programs
cells = Cells(TAILOR, OUT)
FOLDERS = {}


def tasks(arguments):
    return [TASKS] + arguments


def record(name, n, arguments, group=None, **kw):
    return cells.record(name, n, tasks(arguments), group, own=True, **kw)


def predict(kind, name, traced, options, n, arguments, group=None):
    cells.predict(kind, name, traced, options, n, tasks(arguments), group)


def calibrate():
    """How much longer a loop takes when so many processors do the same: of this machine, by copies of a program that is none of the cells'."""
    path = f"{OUT}/calibration"
    if os.environ.get("CALIBRATE", "1") == "1":
        run([sys.executable, f"{FOLDER}/calibrate.py", TAILOR, OUT + "-calibration"])
        shutil.copy(f"{OUT}-calibration/calibration", path)
    return ["--calibration", path] if os.path.exists(path) else []


def group_of(name, *kinds):
    """A cgroup of one of these kinds, (its mount, its files and their texts), or None where none can be made."""
    for folder, write in kinds:
        group = f"{folder}/tailor-whatif-{name}"
        try:
            os.makedirs(group, exist_ok=True)
            for file, text in write:
                with open(f"{group}/{file}", "w") as f:
                    f.write(text)
            FOLDERS[name] = group
            return group
        except OSError:
            try:
                os.rmdir(group)
            except OSError:
                pass
    return None


def quota_group(quota):
    """With so many processors' time."""
    return group_of(f"quota-{quota}",
                    ("/sys/fs/cgroup/cpu", [("cpu.cfs_quota_us", str(int(quota * 100000))), ("cpu.shares", "262144")]),
                    ("/sys/fs/cgroup", [("cpu.max", f"{int(quota * 100000)} 100000"), ("cpu.weight", "10000")]))


def disk_group(megabytes):
    """That reads so much in a second from the device that has the folder of the traces."""
    device, rate = os.stat(cells.tmp).st_dev, megabytes << 20
    number = f"{os.major(device)}:{os.minor(device)}"
    return group_of(f"disk-{megabytes}", ("/sys/fs/cgroup/blkio", [("blkio.throttle.read_bps_device", f"{number} {rate}")]),
                    ("/sys/fs/cgroup", [("io.max", f"{number} rbps={rate}")]))


unit = min(Cells.run_ns(1, tasks(["few", "--threads", "1", "--work", "1000"]), own=True) for _ in range(3)) / 500
UNITS = int(WORK_S * 1e9 / unit)
cells.calibration = calibrate()
W = ["--threads", THREADS, "--work", str(UNITS)]
print(f"{len(HERE)} processors; a unit takes {unit / 1e3:.1f} us, a run {UNITS} units; "
      f"calibration: {open(cells.calibration[1]).read().split() if cells.calibration else 'none'}")

PROGRAMS = {
    "even": ["even"] + W, "queue": ["queue"] + W, "straggler": ["straggler"] + W, "phases": ["phases"] + W,
    "serial": ["serial", "--share", "20"] + W, "locked": ["locked", "--share", "10"] + W,
    "sleeping": ["sleeping", "--threads", THREADS, "--work", str(UNITS // 2)], "few": ["few"] + W,
    "pipeline": ["pipeline", "--work", str(UNITS)],
}
BASES = [n for n in (2, 8) if n in CORES] or CORES[:1]
for name, arguments in PROGRAMS.items() if "cores" in ONLY else ():
    if name in os.environ.get("PROGRAMS", name).split():
        for base in BASES:
            cells.predict_cores(name, base, tasks(arguments), own=True)
base = 2 if 2 in CORES else CORES[0]
for name in ("even", "phases", "serial") if "operator" in ONLY else ():
    slow = PROGRAMS[name] + ["--slow", "a=100"]
    predict("operator", f"{name}: step_a freed of 100 %", record(f"{name}-slow", base, slow), ["--component", "function:step_a=-50%"], base,
            PROGRAMS[name])
    predict("operator", f"{name}: step_a slowed by 50 %", record(f"{name}-plain", base, PROGRAMS[name]),
            ["--component", "function:step_a=+50%"], base, PROGRAMS[name] + ["--slow", "a=50"])
for base in [n for n in CORES if n > 1] if "lock" in ONLY else ():
    locked = ["locked", "--share", "50"] + W
    predict("lock", f"no lock, {base} cores", record(f"locked-{base}", base, locked), ["--lock", "take_ticket"], base, locked + ["--unlocked"])
for base in [n for n in CORES if n > 1] if "skew" in ONLY else ():
    traced = record(f"straggler-{base}", base, PROGRAMS["straggler"], nr=1)  # a group of threads is called by a number of one trace
    said, _ = cells.whatif(traced[0], [])
    groups = [r["option"].split("=")[1] for r in said["tables"]["predictions"] if r["option"].startswith("skew=threads")] if said else []
    if groups:
        predict("skew", f"no straggler, {base} cores", traced, ["--skew", groups[0]], base,
                ["even", "--threads", THREADS, "--work", str(UNITS + 2 * (UNITS // int(THREADS)))])
base = 2 if 2 in CORES else CORES[0]
QUIET = quota_group(64) if "quota" in ONLY and "chrt" not in PREFIX else None
unlimited = record("quota", base, PROGRAMS["even"], QUIET) if QUIET else None
for quota in (0.5, 1, 1.5) if QUIET else ():
    group = quota_group(quota) if quota < base and "chrt" not in PREFIX else None
    if group:
        predict("quota", f"even: quota {quota}", unlimited, ["--quota", str(quota)], base, PROGRAMS["even"], group)
        predict("quota", f"even: quota {quota} taken away", record(f"quota-{quota}", base, PROGRAMS["even"], group), ["--quota", "none"], base,
                PROGRAMS["even"], QUIET)
if "quota" in ONLY and not FOLDERS:
    print("quotas skipped, because no cgroup can be made here, or threads are real-time ones")
for threads in ("1", THREADS) if "disk" in ONLY else ():
    reading = ["reading", "--threads", threads, "--work", str(UNITS // 3), "--every", str(UNITS // 300), "--file", f"{cells.tmp}/read"]
    for rate, changed in (64, 128), (128, 64):
        group, other = disk_group(rate), disk_group(changed)
        if not group or not other:
            print("disks skipped, because no cgroup can slow the device here")
            break
        predict("disk", f"{threads} threads, {rate} to {changed} MiB/s", record(f"disk-{threads}-{rate}", base, reading, group),
                ["--disk", str(changed / rate)], base, reading, other)


# ------------------------------------------------------------------------------------------------------- real programs

def real(kind, name, command):
    """The traces by number of processors."""
    return {base: cells.predict_cores(f"{kind} {name}".strip(), base, command) for base in (1, 2, 8) if base in CORES}


class Postgres:
    """A server for each run: its start and end are the same in all of them."""
    SETTINGS = {"max_parallel_workers_per_gather": 3, "max_parallel_workers": 3, "min_parallel_table_scan_size": 0, "parallel_setup_cost": 0,
                "parallel_tuple_cost": 0, "work_mem": "'64MB'", "jit": "off", "fsync": "off", "listen_addresses": "''", "autovacuum": "off",
                "unix_socket_directories": "'/tmp'", "port": 54391, "shared_buffers": "'256MB'"}
    QUERIES = {
        "count": "SELECT count(*) FROM t WHERE md5(s) LIKE 'a%'",
        "group": "SELECT g, sum(x), avg(y) FROM t GROUP BY g",
        "join": "SELECT count(*), sum(t.x) FROM t JOIN u ON t.k = u.k WHERE u.y < 0.7",
        "sort": "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY y) n FROM t) z",
        "distinct": "SELECT count(DISTINCT k) FROM t",
        "expression": "SELECT sum(sqrt(x) * ln(1 + y) + exp(-y)) FROM t",
    }

    def __init__(self, folder, binaries):
        self.data, self.bin = f"{folder}/postgres", binaries
        user = pwd.getpwnam("nobody")
        self.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"] if os.geteuid() == 0 else []
        os.chmod(folder, 0o755)
        os.makedirs(self.data, 0o700)
        if self.user:
            os.chown(self.data, user.pw_uid, user.pw_gid)
        run(self.user + [f"{self.bin}/initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--locale=C"], cwd="/")
        with open(f"{self.data}/postgresql.conf", "a") as f:
            f.writelines(f"{k} = {v}\n" for k, v in self.SETTINGS.items())
        run(self.command("CREATE TABLE t AS SELECT i AS k, i % 1000 AS g, (i * 7919) % 100003 AS x, ((i * 7919) % 1009) / 1009.0::float8 AS y, "
                         "'text ' || i AS s FROM generate_series(1, 1000000::bigint) i; CREATE TABLE u AS SELECT k, y FROM t WHERE k % 3 = 0; ANALYZE"),
            cwd="/")

    def command(self, sql, times=1):
        script = ('"$0"/postgres -D "$1" 2>/dev/null & until "$0"/psql -qAtX -h /tmp -p 54391 -U postgres -c "SELECT 1" >/dev/null 2>&1; do '
                  'sleep 0.05; done; for i in $(seq "$3"); do "$0"/psql -qAtX -h /tmp -p 54391 -U postgres -c "$2" || bad=1; done; kill -INT $!; '
                  'wait; exit ${bad:-0}')
        return self.user + ["sh", "-c", script, self.bin, self.data, sql, str(times)]


class Spark:
    """WordCount, PageRank and a count over compressed rows, of the Spark that check-spark fetched; its two threads stay two.  MASTER: a
    process for all, or a standalone cluster on this machine: a master, and two workers with an executor of one core each."""
    LOCAL, ONE_CORE, CLUSTER = "local[2]", "local[1]", "local-cluster[2,1,1024]"
    OPTIONS = ["-Xmx1g", "-XX:+UseParallelGC", "-XX:ActiveProcessorCount=2"] + [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in (
        "java.lang", "java.lang.invoke", "java.nio", "sun.nio.ch", "java.util", "java.util.concurrent", "sun.security.action", "java.net", "java.io")]

    def __init__(self, folder, jars):
        self.data, self.classes, self.home = f"{folder}/spark", f"{folder}/classes:{jars}/*", os.path.dirname(jars)
        run(["javac", "-nowarn", "-cp", f"{jars}/*", "-d", f"{folder}/classes", f"{FOLDER}/SparkPrograms.java"])
        run(self.command("make"))

    def command(self, program, master=LOCAL):
        executors = [f"-Dspark.executor.extraClassPath={self.classes.split(':')[0]}", "-Dspark.executor.extraJavaOptions=-XX:+UseParallelGC"]
        return (["env", f"SPARK_HOME={self.home}", "SPARK_SCALA_VERSION=2.13", "java"] + self.OPTIONS + executors +
                ["-cp", self.classes, "SparkPrograms", program, self.data, master])


if "engine" in ONLY and ENGINE:
    for query in ("q1", "q3", "q6", "q18"):
        real("engine", query, [ENGINE, "--query", query, "--threads", "4", "--repeat", "60", "--scale", "0.2"])
if "sort" in ONLY:
    sort = f"{OUT}/sort"
    if shutil.which("gcc") and not os.path.exists(sort):
        run(["gcc", "-O2", "-g", "-fopenmp", "-static", "-o", sort, f"{FOLDER}/sort.c"])
    if os.path.exists(sort):
        real("sort", "by OpenMP's tasks", ["env", "OMP_WAIT_POLICY=passive", sort, "2000000", WORKERS])
    else:
        print("OpenMP's tasks skipped, because gcc is not installed")
if "postgres" in ONLY:
    found = sorted(f for f in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(f"{f}/initdb") and os.path.exists(f"{f}/psql"))
    if found:
        server = Postgres(cells.tmp, found[-1])
        for name, sql in Postgres.QUERIES.items():
            real("postgres", name, server.command(sql, 3))
    else:
        print("PostgreSQL skipped, because it is not installed")
if "node" in ONLY and shutil.which("node"):
    real("node", "workers", ["node", f"{FOLDER}/workers.js", "tasks", "80"])
if "blocks" in ONLY and shutil.which("node"):
    real("blocks", "", ["node", f"{FOLDER}/workers.js", "blocks", "400"])
if "blocks" in ONLY:
    real("blocks", "in Python", [sys.executable, f"{FOLDER}/blocks.py", "500", WORKERS])
if "spark" in ONLY:
    found = sorted(glob.glob(f"{os.path.dirname(TAILOR)}/spark/pyspark-4.0*/deps/jars"))
    if found and shutil.which("javac"):
        spark = Spark(cells.tmp, found[-1])
        for program in ("words", "ranks", "blocks"):
            traced = real("spark", program, spark.command(program)).get(2)
            if traced:
                cells.predict("executor", f"spark {program}: cores 2 to 1", traced, ["--threads", "Executor task*=1"], 2,
                              spark.command(program, Spark.ONE_CORE))
        for program in ("words", "ranks") if 2 in CORES else ():
            cells.predict_cores(f"cluster {program}", 2, spark.command(program, Spark.CLUSTER))
    else:
        print("Spark skipped, because `make check-spark` has not fetched it, or because javac is not installed")
cells.end()
for group in FOLDERS.values():
    os.rmdir(group)
