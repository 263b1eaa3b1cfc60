#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `tailor watch --all --cost 1%` costs programs, beside `perf record -a` at the same rate: processor time of a piece of work, in one
process that goes on, while both recorders are paused, and one of them records, for a fraction of a second at a time, since such machines
change their speed by some per cent within seconds.  Printed are medians of ratios with their 95 % intervals (bootstrap).  It ends when the interval of each ratio is narrow enough to decide, or after MINUTES.
Then the rows of DCPI's tables 3 to 5 (Anderson et al., 1997): cost, samples, time a sample in the recorder and in what adds epochs to the
store, bytes a day, memory.
    watch.py BUILD [MINUTES] [WORKLOAD...]"""
import glob, os, random, re, resource, shutil, signal, sqlite3, statistics, subprocess, sys, tempfile, threading, time

B, MINUTES, WANTED = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 20, sys.argv[3:]
BOUND, LEAST_ROUNDS, DRAWS, WINDOW_S, SETTLE_S = 1.013, 40, 2000, 0.4, 0.05
NODE = "function f() { let n = 0; for (let i = 0; i < 2e7; i++) n = (n * 33 + i) | 0; return n } for (;;) require('fs').writeSync(1, f() + '\\n')"
SQL = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<200000) SELECT sum(x*x%7) FROM c;"
CHURN = "while :; do for i in 1 2 3 4 5 6 7 8 9 10; do sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done'; done; echo 10; done"
MAKE = "while :; do gcc -std=gnu11 -D_GNU_SOURCE -I. -O2 -c -o /dev/null $(ls jitreg/base/*.c | head -1); echo 1; done"
JAVA = """class Sums {
    static long sum() { long n = 0; for (int i = 0; i < 20_000_000; i++) n = n * 33 + (i ^ n >> 7); return n; }
    public static void main(String[] a) { for (;;) System.out.println(sum()); } }"""
STATEMENT = "select sum(a.i * b.i) from generate_series(1, 300) a(i), generate_series(1, 1500) b(i);"
POSTGRES = next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))), "")
SCRATCH = tempfile.mkdtemp(prefix="tailor-bench-")
# each prints lines for ever, and all of its lines are the same work
WORKLOADS = {
    "engine": ["stdbuf", "-oL", f"{B}/engine", "--query", "q3", "--scale", "0.1", "--threads", "1", "--repeat", "100000000"],
    "node": ["node", "-e", NODE],
    "sqlite": ["sh", "-c", f"yes '{SQL}' | stdbuf -oL sqlite3 :memory:"],
    "churn": ["sh", "-c", CHURN],
    "make": ["sh", "-c", MAKE],
    "jvm": ["java", f"{SCRATCH}/Sums.java"],
    "postgres": ["runuser", "-u", "postgres", "--", "sh", "-c",
                 f"yes '{STATEMENT}' | stdbuf -oL {POSTGRES} --single -D {SCRATCH}/pg postgres"],
    "idle": ["sleep", "1000000"],
}

def prepare(name):
    if name == "jvm":
        with open(f"{SCRATCH}/Sums.java", "w") as f:
            f.write(JAVA)
    elif name == "postgres":
        os.mkdir(f"{SCRATCH}/pg")
        shutil.chown(f"{SCRATCH}/pg", "postgres")
        os.chmod(SCRATCH, 0o755)
        subprocess.run(["runuser", "-u", "postgres", "--", os.path.dirname(POSTGRES) + "/initdb", "-D", f"{SCRATCH}/pg"], check=True,
                       stdout=subprocess.DEVNULL)

def is_there(name):
    return shutil.which(WORKLOADS[name][0]) and (name != "postgres" or POSTGRES)

def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError: # it has ended
        return ""

def tree(pid):
    yield pid
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        for child in read(task).split():
            yield from tree(int(child))

class Work:
    """a program that goes on, and what a line of it costs"""
    def __init__(self, command):
        self.lines, self.asked, self.told = 0, threading.Event(), threading.Event()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        threading.Thread(target=self.listen, daemon=True).start()
    def listen(self):
        for _ in self.process.stdout:
            self.lines += 1
            if self.asked.is_set():
                self.asked.clear()
                self.mark = self.lines, self.cpu()
                self.told.set()
    def cpu(self):
        """seconds of processor time of all threads, and of the children that have ended"""
        ns = ticks = 0
        for pid in tree(self.process.pid):
            ns += sum(int((read(f) or "0").split()[0]) for f in glob.glob(f"/proc/{pid}/task/*/schedstat"))
            ticks += sum(map(int, read(f"/proc/{pid}/stat").rpartition(")")[2].split()[13:15]))
        return ns / 1e9 + ticks / os.sysconf("SC_CLK_TCK")
    def at_a_line(self):
        self.told.clear()
        self.asked.set()
        if not self.told.wait(60):
            sys.exit(f"{self.process.args[0]}: no line in a minute")
        return self.mark
    def of_a_line(self):
        """seconds of processor time of a line, now"""
        time.sleep(SETTLE_S)
        lines, cpu = self.at_a_line()
        time.sleep(WINDOW_S)
        lines_then, cpu_then = self.at_a_line()
        return (cpu_then - cpu) / (lines_then - lines)
    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

class Watch:
    """its store, its rate, its own cost"""
    def __init__(self, folder):
        self.store, said = f"{folder}/w.tlrs", tempfile.NamedTemporaryFile("w+")
        self.process = subprocess.Popen([f"{B}/tailor", "watch", "--all", "--cost", "1%", "--epochs", "60m", "--store", self.store],
                                        stderr=said)
        while not glob.glob(f"{self.store}.epochs/*-{self.process.pid}.*.tlr") and self.process.poll() is None:
            time.sleep(0.05)
        time.sleep(1)
        said = read(said.name)
        if self.process.poll() is not None:
            sys.exit(f"tailor watch ended: {said}")
        rate = re.search(r": (\d+) samples a second", said)
        self.rate = int(rate[1]) if rate else 1000
    def turn(self):
        self.process.send_signal(signal.SIGUSR2)
    def end(self):
        self.peak_kib = int(re.search(r"VmHWM:\s+(\d+)", read(f"/proc/{self.process.pid}/status"))[1])
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

class Perf:
    def __init__(self, rate, folder):
        self.control = f"{folder}/control"
        os.mkfifo(self.control)
        self.process = subprocess.Popen(["perf", "record", "-q", "-a", "-e", "task-clock", "-F", str(rate), "-D", "-1", "--control",
                                         f"fifo:{self.control}", "-o", "/dev/null"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.commands, self.on = open(self.control, "w", buffering=1), False
        time.sleep(1)
    def turn(self):
        self.on = not self.on
        print("enable" if self.on else "disable", file=self.commands)
    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

def interval(ratios):
    """their median, and where 95 % of it lie when they are drawn anew"""
    drawn = sorted(statistics.median(random.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    return statistics.median(ratios), drawn[DRAWS * 25 // 1000], drawn[DRAWS * 975 // 1000 - 1]

def is_decided(r):
    return r[1] > BOUND or r[2] <= BOUND

def bytes_of_a_day(store):
    """epochs that are older than two days are hours: what a day of hours like this takes, without names, which are there once"""
    days_ns = 3 * 86400 * 10**9
    with sqlite3.connect(store) as db:
        db.execute("UPDATE epoch SET begin_ns = begin_ns - ?, end_ns = end_ns - ?", (days_ns, days_ns))
    subprocess.run([f"{B}/tailor", "db", "gc", store], check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(store) as db:
        return 24 * db.execute("SELECT sum(length(data)) * 1.0 / count(DISTINCT epoch) FROM block").fetchone()[0]

def measure(name, until):
    with tempfile.TemporaryDirectory() as folder:
        work, watch = Work(WORKLOADS[name]), Watch(folder)
        perf, ratios, of = Perf(watch.rate, folder), {"watch": [], "perf": []}, {}
        ways = {"watch": watch, "perf": perf}
        if name == "idle":
            time.sleep(60)
        watch.turn() # off
        before = name != "idle" and work.of_a_line()
        while name != "idle":
            for way in random.sample(list(ways), 2):
                ways[way].turn()
                with_it = work.of_a_line()
                ways[way].turn()
                after = work.of_a_line()
                ratios[way].append(2 * with_it / (before + after))
                before = after
            n = len(ratios["watch"])
            if n % 10 == 0 and (n >= LEAST_ROUNDS or time.monotonic() >= until):
                of = {w: interval(ratios[w]) for w in ratios}
                if is_decided(of["watch"]) or time.monotonic() >= until:
                    break
        work.end()
        perf.end()
        watch.end()
        samples = cpu_ns = 0
        for trace in glob.glob(f"{watch.store}.epochs/*.tlr"):
            dump = subprocess.run([f"{B}/tailor", "dump", trace], capture_output=True, text=True).stdout.splitlines()
            end = re.search(r" END .*samples=(\d+) .*recorder_cpu_ns=(0x[0-9a-f]+|\d+)", dump[-1]) if dump else None
            if end:
                samples += int(end[1])
                cpu_ns += int(end[2], 0)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        again = f"{folder}/again.tlrs"
        for trace in sorted(glob.glob(f"{watch.store}.epochs/*.tlr")):
            subprocess.run([f"{B}/tailor", "db", "add", again, trace], capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        fold_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        day = bytes_of_a_day(again) if os.path.exists(again) else 0
    print(f"{name:8} rounds {len(ratios['watch']):3}  " + "  ".join(f"{w} x{of[w][0]:.4f} ({of[w][1]:.4f} to {of[w][2]:.4f})" for w in of) +
          ("" if not of or is_decided(of["watch"]) else "  undecided"), flush=True)
    cost = of and f"{100 * (of['watch'][0] - 1):.1f} ({100 * (of['watch'][1] - 1):.1f} to {100 * (of['watch'][2] - 1):.1f}) | " \
        f"{100 * (of['perf'][0] - 1):.1f}"
    return f"| {name} | {cost or '- | -'} | {watch.rate} | {samples} | {cpu_ns / max(1, samples) / 1e3:.1f} | " \
           f"{1e6 * fold_s / max(1, samples):.1f} | {watch.peak_kib / 1024:.0f} | {day / 1e6:.2f} |"

names = [n for n in WORKLOADS if (n in WANTED or not WANTED) and is_there(n)]
begin, rows = time.monotonic(), []
for i, name in enumerate(names):
    prepare(name)
    rows.append(measure(name, begin + 60 * MINUTES * (i + 1) / len(names)))
print("\n| program | cost, % (95 %) | perf, % | samples/s | samples | recorder, µs a sample | store, µs a sample | memory, MiB | MB a day |")
print("|---|---|---|---|---|---|---|---|---|")
print("\n".join(rows))
shutil.rmtree(SCRATCH)
