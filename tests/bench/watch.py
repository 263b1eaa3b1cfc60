#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `tailor watch --all --cost 1%` costs programs, beside nothing and `perf record -a` at the same rate: processor time of the same
work, in rounds of all three in random order; medians, the ratio with its 95 % interval (bootstrap over rounds).  It ends when the interval of
each ratio is narrow enough to decide, or after MINUTES.  Then the rows of DCPI's tables 3 to 5 (Anderson et al., 1997): cost, samples,
time a sample in the recorder and in what adds epochs to the store, bytes a day, memory.
    watch.py BUILD [MINUTES] [WORKLOAD...]"""
import glob, os, random, re, resource, shutil, signal, sqlite3, statistics, subprocess, sys, tempfile, time

B, MINUTES, WANTED = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 20, sys.argv[3:]
BOUND, LEAST_ROUNDS, DRAWS = 1.013, 5, 2000
NODE = "let n=0;for(let i=0;i<3e8;i++)n=(n*33+i)|0;console.log(n)"
SQL = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<3000000) SELECT sum(x*x%7) FROM c;"
CHURN = "for i in $(seq 300); do sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done'; done"
JAVA = """class Sums { public static void main(String[] a) {
    long n = 0; for (int i = 0; i < 600_000_000; i++) n = n * 33 + (i ^ n >> 7); System.out.println(n); } }"""
STATEMENT = "select sum(a.i * b.i) from generate_series(1, 3000) a(i), generate_series(1, 1500) b(i);"
POSTGRES = next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))), "")
SCRATCH = tempfile.mkdtemp(prefix="tailor-bench-")
WORKLOADS = {
    "engine": [f"{B}/engine", "--query", "q3", "--scale", "0.1", "--threads", "1", "--repeat", "20"],
    "node": ["node", "-e", NODE],
    "sqlite": ["sqlite3", ":memory:", SQL],
    "churn": ["sh", "-c", CHURN],
    "make": ["sh", "-c", "ls jitreg/base/*.c | head -12 | xargs -P 2 -n 1 gcc -std=gnu11 -D_GNU_SOURCE -I. -O2 -c -o /dev/null"],
    "jvm": ["java", f"{SCRATCH}/Sums.java"],
    "postgres": ["runuser", "-u", "postgres", "--", "sh", "-c", f"echo '{STATEMENT}' | $0 --single -D {SCRATCH}/pg postgres", POSTGRES],
    "idle": ["sleep", "10"],
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

def cpu_of(command):
    """seconds of processor time of a command and what it starts"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

class Watch:
    """of all rounds of one workload: its store, its rate, its own cost"""
    def __init__(self, folder):
        self.store, self.rate, self.peak_kib = f"{folder}/w.tlrs", 0, 0
    def start(self):
        self.said = tempfile.NamedTemporaryFile("w+")
        self.process = subprocess.Popen([f"{B}/tailor", "watch", "--all", "--cost", "1%", "--epochs", "20s", "--keep", "1000", "--store",
                                         self.store], stderr=self.said)
        while not glob.glob(f"{self.store}.epochs/*-{self.process.pid}.*.tlr") and self.process.poll() is None:
            time.sleep(0.05)
        time.sleep(0.5)
    def stop(self):
        status = open(f"/proc/{self.process.pid}/status").read()
        self.peak_kib = max(self.peak_kib, int(re.search(r"VmHWM:\s+(\d+)", status)[1]))
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        rate = re.search(r": (\d+) samples a second", open(self.said.name).read())
        self.rate = int(rate[1]) if rate else self.rate or 400

class Perf:
    def start(self, rate):
        self.process = subprocess.Popen(["perf", "record", "-q", "-a", "-e", "task-clock", "-F", str(rate), "-o", "/dev/null"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

def interval(with_it, without):
    """ratio of medians, and where 95 % of it lie when rounds are drawn anew"""
    n, ratios = len(without), []
    for _ in range(DRAWS):
        pick = [random.randrange(n) for _ in range(n)]
        ratios.append(statistics.median(with_it[i] for i in pick) / statistics.median(without[i] for i in pick))
    ratios.sort()
    return statistics.median(with_it) / statistics.median(without), ratios[DRAWS * 25 // 1000], ratios[DRAWS * 975 // 1000 - 1]

def is_decided(name, r):
    """what is idle has no cost in per cent, only samples and bytes"""
    return name == "idle" or r[1] > BOUND or r[2] <= BOUND

def bytes_of_a_day(store):
    """epochs that are older than two days are hours: what a day of hours like this takes, without names, which are there once"""
    days_ns = 3 * 86400 * 10**9
    with sqlite3.connect(store) as db:
        db.execute("UPDATE epoch SET begin_ns = begin_ns - ?, end_ns = end_ns - ?", (days_ns, days_ns))
    subprocess.run([f"{B}/tailor", "db", "gc", store], check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(store) as db:
        return 24 * db.execute("SELECT sum(length(data)) * 1.0 / count(DISTINCT epoch) FROM block").fetchone()[0]

def measure(name, until):
    command, perf = WORKLOADS[name], Perf()
    times = {"nothing": [], "watch": [], "perf": []}
    with tempfile.TemporaryDirectory() as folder:
        watch = Watch(folder)
        while True:
            order = random.sample(list(times), 3) if times["watch"] else list(times) # the rate is watch's to choose, at first
            for way in order:
                if way == "watch":
                    watch.start()
                elif way == "perf":
                    perf.start(watch.rate)
                times[way].append(cpu_of(command))
                if way != "nothing":
                    {"watch": watch, "perf": perf}[way].stop()
            n = len(times["nothing"])
            of = {w: interval(times[w], times["nothing"]) for w in ("watch", "perf")} if n > 1 else {}
            if (n >= LEAST_ROUNDS and is_decided(name, of["watch"])) or (n > 1 and time.monotonic() >= until):
                break
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
    print(f"{name:8} rounds {n:3}  nothing {statistics.median(times['nothing']):.3f} s  " +
          "  ".join(f"{w} x{of[w][0]:.4f} ({of[w][1]:.4f} to {of[w][2]:.4f})" for w in of) +
          ("" if is_decided(name, of["watch"]) else "  undecided"), flush=True)
    cost = "" if name == "idle" else \
        f"{100 * (of['watch'][0] - 1):.1f} ({100 * (of['watch'][1] - 1):.1f} to {100 * (of['watch'][2] - 1):.1f}) | {100 * (of['perf'][0] - 1):.1f}"
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
