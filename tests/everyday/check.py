# SPDX-License-Identifier: MIT
"""The everyday question, with programs as people have them: which of my functions?

check.py BUILD [JOB...]

Each job is at most two commands of a user's, and the answer has to be within the first 15 lines of the default report at 80 columns: handlers
of planted work (50 : 30 : 20) within 2 points of that, by total; or the part that another tool gives most of the time.  Prints a table; exit 1
where an answer is missing or wrong.  What comes from npm and PyPI is installed into BUILD/everyday; what cannot be had is a line "skipped,
because ...".
"""
import contextlib
import hashlib
import http.client
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../postgres")
import cluster as postgres

LINES, POINTS = 15, 2.0
PATIENCE_S = float(os.environ.get("PATIENCE_S", 300))
ENOUGH = 8000   # samples in handlers: a share of a half is then within 1.2 points, at 95 %
LONGEST_S = 32
ROUNDS = 2      # of what both sample
PLANTED = (50, 30, 20)
LUA = ("http://deb.debian.org/debian/pool/main/l/lua5.4/lua5.4_5.4.4.orig.tar.gz",
       "164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61")
PY_SPY = "py-spy==0.4.3"
COMPILED = "planted_heavy.c"


class Skip(Exception):
    """Why a job cannot be done here."""


class Wrong(Exception):
    """What was expected, and what came."""


class Job:
    """do(job, seconds) records TRACE as a user would, and appends what the user types to job.commands."""
    def __init__(self, name, do, expected):
        self.name, self.do, self.expected = name, do, expected
        self.commands, self.beside = [], ""


TAILOR = BUILD = DIR = ""
TRACE = "tailor.tlr"


def sh(command, **more):
    p = subprocess.run(command, capture_output=True, text=True, **more)
    if p.returncode:
        raise Wrong(f"{' '.join(command)}: exit {p.returncode}: {(p.stdout + p.stderr)[-500:]}")
    return p.stdout


def tailor(job, *arguments, shown=None, **more):
    job.commands.append("tailor " + (shown or " ".join(arguments)))
    return sh([TAILOR, *arguments], cwd=DIR, **more)


def need(program, package):
    path = shutil.which(program)
    if not path:
        raise Skip(f"there is no {program} (package {package})")
    return path


# ------------------------------------------------------------------------------------------------- what is installed here

def once(name, make):
    """A folder of BUILD/everyday that make(folder) fills, once; what fails is tried again the next time."""
    to = f"{BUILD}/everyday/{name}"
    if not os.path.exists(to + "/complete"):
        shutil.rmtree(to, ignore_errors=True)
        os.makedirs(to)
        make(to)
        open(to + "/complete", "w").close()
    return to


def client(command, what, **more):
    p = subprocess.run(command, capture_output=True, text=True, **more)
    if p.returncode:
        raise Skip(f"{what} cannot be had: {(p.stderr or p.stdout).strip().splitlines()[-1][:160]}")


def npm():
    def install(to):
        shutil.copy(HERE + "/package.json", to)
        client([need("npm", "npm"), "install", "--no-audit", "--no-fund", "--silent"], "what npm has", cwd=to)
    return once("npm", install)


def py_spy():
    def install(to):
        client(["/usr/bin/python3", "-m", "venv", to], "a virtual environment")
        client([to + "/bin/pip", "install", "-q", PY_SPY], PY_SPY)
    return once("py-spy", install) + "/bin/py-spy"


def lua():
    def fetch(to):
        client([need("curl", "curl"), "-sSf", "--max-time", "120", "-o", to + "/lua.tar.gz", LUA[0]], "Lua's text")
        if hashlib.sha256(open(to + "/lua.tar.gz", "rb").read()).hexdigest() != LUA[1]:
            raise Skip(f"{LUA[0]} is not the file that this test was written for")
    return once("lua", fetch) + "/lua.tar.gz"


# ------------------------------------------------------------------------------------------------------------ servers

@contextlib.contextmanager
def running(command, env=None):
    """The process, and the first line that it prints."""
    p = subprocess.Popen(command, cwd=DIR, stdout=subprocess.PIPE, text=True, env=dict(os.environ, **(env or {})), start_new_session=True)
    try:
        yield p, p.stdout.readline().strip()
    finally:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGTERM)
        p.wait(PATIENCE_S)


def load(port, requests):
    """As many requests to each handler, side by side; returns the clients."""
    ab = need("ab", "apache2-utils")
    return [subprocess.Popen([ab, "-q", "-n", str(requests), f"http://127.0.0.1:{port}/{path}"], stdout=subprocess.DEVNULL)
            for path in ("search", "list", "detail")]


@contextlib.contextmanager
def asking(port):
    """Two clients that ask each handler in turn."""
    end = threading.Event()

    def ask():
        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE_S)
        while not end.is_set():
            for path in ("search", "list", "detail"):
                connection.request("GET", "/" + path)
                connection.getresponse().read()
        connection.close()

    warm = http.client.HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE_S)
    for i in range(3000): # as a server that has run for a while: its handlers are compiled
        warm.request("GET", "/" + ("search", "list", "detail")[i % 3] + "?rounds=300")
        warm.getresponse().read()
    warm.close()
    clients = [threading.Thread(target=ask) for _ in range(2)]
    for c in clients:
        c.start()
    try:
        yield
    finally:
        end.set()
        for c in clients:
            c.join()


def wait_all(processes):
    for p in processes:
        if p.wait(PATIENCE_S):
            raise Wrong(f"{p.args}: exit {p.returncode}")


def express(job, seconds):
    """The server ends when it has served."""
    server = [need("node", "nodejs"), HERE + "/server.js"]
    job.commands.append("tailor run -- node server.js")
    with running([TAILOR, "run", "-q", "--", *server], {"NODE_PATH": npm() + "/node_modules"}) as (_, port):
        wait_all(load(port, int(25 * seconds)))


def node_cluster(job, seconds):
    server = [need("node", "nodejs"), HERE + "/server.js"]
    with running(server, {"NODE_PATH": npm() + "/node_modules", "WORKERS": "2"}) as (master, port), asking(port):
        tailor(job, "attach", "-q", "--inject", "-d", str(seconds), str(master.pid), shown=f"attach --inject -d {seconds:g} PID")


# ----------------------------------------------------------------------------------------------------------- programs

def spied(python, script, *arguments):
    """Shares of the handlers, by py-spy."""
    out = f"{DIR}/spied"
    p = subprocess.run([py_spy(), "record", "-r", "500", "-f", "raw", "-o", out, "--", python, script, *arguments], capture_output=True,
                       text=True, cwd=DIR)
    if p.returncode:
        raise Skip(f"py-spy: {p.stderr.strip()[-160:]}")
    n = [0, 0, 0]
    for line in open(out):
        stack, _, count = line.rpartition(" ")
        for i, name in enumerate(("search_handler", "list_handler", "detail_handler")):
            n[i] += int(count) * (name in stack)
    return " : ".join(f"{100 * x / max(sum(n), 1):.1f}" for x in n)


def python(path, *arguments):
    def do(job, seconds):
        program = need(path, "python3")
        if arguments:
            sh([program, "-c", "import numpy"])
        tailor(job, "run", "-q", "--", program, HERE + "/planted.py", str(seconds), *arguments,
               shown=" ".join(["run -- python3 planted.py", *arguments]))
        if not job.beside:
            try:
                job.beside = "py-spy: " + spied(program, HERE + "/planted.py", "3", *arguments)
            except Skip as e:
                job.beside = str(e)
    return do


def java(main, *classpath):
    def do(job, seconds):
        for jar in classpath:
            if not os.path.exists(jar):
                raise Skip(f"there is no {jar} (package libh2-java)")
        path = ":".join([*classpath, "."])
        sh([need("javac", "default-jdk-headless"), "-cp", path, "-d", DIR, f"{HERE}/{main}.java"])
        words = ["-cp", path] if classpath else []
        tailor(job, "run", "-q", "--", "java", *words, main, str(seconds), shown=f"run -- java {main}")
    return do


def compiled(name, compiler, package, *flags):
    def do(job, seconds):
        sh([need(compiler, package), *flags, "-o", f"{DIR}/planted", f"{HERE}/{name}"], env=dict(os.environ, GOCACHE=f"{BUILD}/everyday/go"))
        tailor(job, "run", "-q", "--", "./planted", str(seconds))
    return do


def make_lua(job, _):
    """One file of the project is far more work than the others."""
    source = f"{DIR}/lua-5.4.4/src"
    if not os.path.exists(source):
        sh(["tar", "-xzf", lua(), "-C", DIR])
        with open(f"{source}/{COMPILED}", "w") as f:
            for i in range(300):
                f.write(f"int planted_{i}(int a, int b) {{ int c = 0; for (int i = 0; i < a; i++) "
                        f"for (int k = i; k < b; k++) if (i % {i + 2}) c += k / (i + {i + 1}); else c ^= k * {i}; return c; }}\n")
        text = open(f"{source}/Makefile").read()
        text = text.replace("lzio.o lauxlib.o", "lzio.o lauxlib.o " + COMPILED.replace(".c", ".o"))
        open(f"{source}/Makefile", "w").write(text.replace("CORE_O=", f"CORE_O= {COMPILED.replace('.c', '.o')} ", 1))
    sh(["make", "-s", "clean"], cwd=source)
    job.commands.append("tailor run -- make -j2")
    sh([TAILOR, "run", "-q", "-o", f"{DIR}/{TRACE}", "--", "make", "-s", "-j2", "posix"], cwd=source)


# ---------------------------------------------------------------------------------------------------------- databases

def slowest_node(plan):
    """Of EXPLAIN (ANALYZE, FORMAT JSON): the node with most time of its own."""
    children = plan.get("Plans", [])
    own = plan["Actual Total Time"] * plan["Actual Loops"] - sum(c["Actual Total Time"] * c["Actual Loops"] for c in children)
    return max([(own, plan["Node Type"]), *(slowest_node(c) for c in children)])


def pgbench(job, seconds):
    try:
        c = postgres.Cluster()
    except LookupError as e:
        raise Skip(str(e)) from e
    query = "select sum(price) from orders join customers on customer = customers.id"
    with c, c.server(settings={"max_parallel_workers_per_gather": 0}), c.session() as s:
        s.run("create table customers as select i as id from generate_series(1, 200000) i;"
              "create table orders as select 1 + i * 7919::bigint % 200000 as customer, i % 1000 as price from generate_series(1, 400000) i; analyze;")
        node = slowest_node(json.loads(s.run(f"explain (analyze, format json) {query};"))[0]["Plan"])[1]
        with open(f"{DIR}/query.sql", "w") as f:
            f.write(query + ";\n")
        bench = subprocess.Popen([c.bin + "/pgbench", "-n", "-T", "600", "-f", f"{DIR}/query.sql", "-h", c.socket, "-p", str(c.port), "-U",
                                  "postgres", "postgres"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            tailor(job, "attach", "-q", "-d", str(seconds), str(c.servers[-1].pid), shown=f"attach -d {seconds:g} PID")
        finally:
            bench.kill()
            bench.wait()
    job.beside = f"EXPLAIN ANALYZE: {node}"
    job.expected = node


def duckdb(job, seconds):
    out = tailor(job, "run", "-q", "--", need("node", "nodejs"), HERE + "/duck.js", str(seconds), shown="run -- node duck.js",
                 env=dict(os.environ, NODE_PATH=npm() + "/node_modules"))
    job.beside = f"EXPLAIN ANALYZE: {out.strip()}"
    job.expected = re.escape(out.strip())


def sqlite(job, _):
    with open(HERE + "/orders.sql") as sql:
        tailor(job, "run", "-q", "--", need("sqlite3", "sqlite3"), ":memory:", shown="run -- sqlite3 :memory: <orders.sql", stdin=sql)


# ------------------------------------------------------------------------------------------------------- plain C programs

def perf_most(program):
    """The function that `perf report` gives most, of those that it names; and its share."""
    text = sh(["perf", "report", "-i", f"{DIR}/perf.data", "--stdio", "-g", "none", "--no-inline", "-F", "overhead,sym", "--comm", program])
    for line in text.splitlines():
        m = re.match(r" *([\d.]+)% .*\[[.k]\] (\S.*?) *$", line)
        if m and not re.match(r"0x|_start|__libc_start|main$", m[2]):
            return float(m[1]), m[2]
    raise Wrong(f"perf report names no function: {text[:500]}")


def samples_something(pid):
    try:
        return any("perf_event" in os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def run_beside_perf(command, options=(), *perf):
    """The command waits until perf samples it, too.  (Below `perf record` perf 6.1 takes tailor's own recorder for a fault of its own.)"""
    waits = f'echo $$ >"{DIR}/pid.new"; mv "{DIR}/pid.new" "{DIR}/pid"; kill -STOP $$; exec "$@"'
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{DIR}/pid")
    run = subprocess.Popen([TAILOR, "run", "-q", *options, "--", "/bin/sh", "-c", waits, "sh", *command], cwd=DIR, stdout=subprocess.DEVNULL)
    pid = int(open(postgres.wait_for("the command has begun", lambda: os.path.exists(f"{DIR}/pid") and f"{DIR}/pid")).read())
    spy = subprocess.Popen(["perf", "record", "-q", "-F", "4000", "-e", "task-clock", *perf, "-o", f"{DIR}/perf.data", "-p", str(pid)],
                           stdout=subprocess.DEVNULL)
    postgres.wait_for("perf samples", lambda: spy.poll() is not None or samples_something(spy.pid))
    os.kill(pid, signal.SIGCONT)
    if run.wait(PATIENCE_S) or spy.wait(PATIENCE_S):
        raise Wrong(f"{command}: exit {run.returncode}; perf record: exit {spy.returncode}")


def beside_perf(prepare, *command):
    """`perf record` samples the same processes at the same time."""
    def do(job, seconds):
        need("perf", "linux-perf")
        program = need(command[0], command[0])
        prepare(seconds)
        job.commands.append("tailor run -- " + " ".join(command))
        run_beside_perf([program, *command[1:]])
        share, name = perf_most(os.path.basename(program))
        job.beside = f"perf: {name} {share:.1f} %"
        job.expected = re.escape(name)
    return do


def without_parameters(name):
    return re.sub(r"\(.*\)$", "", name)


def perf_shares(command):
    """{function: (total, self)} by `perf report --children`, in per cent of the program's samples, and how many these are."""
    text = sh(["perf", "report", "-i", f"{DIR}/perf.data", "--stdio", "-g", "none", "--no-inline", "--children", "--percentage", "relative", "--comm",
               os.path.basename(command), "-F", "overhead_children,overhead,sym", "-t", "|"])
    rows = [line.split("|") for line in text.splitlines() if line.count("|") == 2 and "%" in line]
    n = re.search(r"^# Samples: ([\d.]+)(K?)", text, re.M)
    return {without_parameters(re.sub(r"^\[.\] ", "", name.strip())): (float(total.strip(" %")), float(own.strip(" %"))) for total, own, name in rows}, \
        float(n[1]) * (1000 if n[2] else 1)


def sums_beside_perf(prepare, functions, *command, options=()):
    """Total and self of functions, of the same run by both; what differs by more than a point and what samples allow is wrong."""
    def do(job, seconds):
        need("perf", "linux-perf")
        prepare(seconds)
        pooled = {f: [0, 0, 0, 0, 0, 0] for f in functions}
        for _ in range(ROUNDS):
            program = command[0] if command[0].startswith("./") else need(command[0], command[0])
            run_beside_perf([program, *command[1:]], options, "--call-graph", "dwarf,16384", "-F", "400")
            by_perf, n_perf = perf_shares(command[0])
            report = json.loads(sh([TAILOR, "report", "--view", "functions", "--top", "0", "--json", TRACE], cwd=DIR))
            ours = {without_parameters(f["name"]): f for f in report["tables"]["functions"]}
            weight = sum(f["weight"] for f in ours.values())
            for f, sums in pooled.items():
                total, own = by_perf.get(f, (0, 0))
                row = ours.get(f, {"weight": 0, "total": 0})
                for i, x in enumerate((total * n_perf, own * n_perf, n_perf, 100 * row["total"] * report["samples"],
                                       100 * row["weight"] / weight * report["samples"], report["samples"])):
                    sums[i] += x
        said = []
        for f, (total, own, n, our_total, our_own, our_n) in pooled.items():
            for what, p, q in ("total", total / n, our_total / our_n), ("self", own / n, our_own / our_n):
                allowed = 1 + 2 * 100 * math.sqrt(p / 100 * (1 - p / 100) * (1 / n + 1 / our_n))
                if abs(p - q) > allowed:
                    raise Wrong(f"{f}: {what} {q:.1f} %, by perf {p:.1f} %, allowed {allowed:.1f} points")
            said.append(f"{f} {our_total / our_n:.1f}/{our_own / our_n:.1f} (perf {total / n:.1f}/{own / n:.1f})")
        job.commands.append("tailor run -- " + " ".join(os.path.basename(c) for c in command[:3]))
        job.beside = "total/self: " + "; ".join(said)
        job.expected = None
    return do


def planted_cc(_):
    sh([need("g++", "g++"), "-O2", "-g", "-o", f"{DIR}/planted", f"{HERE}/planted.cc"])


def lines_to_sort(_):
    if not os.path.exists(f"{DIR}/lines.txt"):
        with open(f"{DIR}/lines.txt", "w") as f:
            f.writelines(f"{i * 7919 % 2000003} line {i}\n" for i in range(2000003))


def repository(_):
    if os.path.exists(f"{DIR}/repository"):
        return
    os.mkdir(f"{DIR}/repository")
    env = dict(os.environ, GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b")
    sh(["git", "init", "-q"], cwd=f"{DIR}/repository")
    for i in range(40):
        with open(f"{DIR}/repository/file", "w") as f:
            f.writelines(f"{n * (i + 7919) % 100003}\n" for n in range(40000))
        sh(["git", "add", "file"], cwd=f"{DIR}/repository")
        sh(["git", "commit", "-q", "-m", "x"], cwd=f"{DIR}/repository", env=env)


HANDLERS = ("searchHandler", "listHandler", "detailHandler")
PYTHON_HANDLERS = ("search_handler", "list_handler", "detail_handler")
JOBS = [
    Job("express", express, HANDLERS),
    Job("node cluster", node_cluster, HANDLERS),
    Job("java", java("Planted"), tuple("Planted." + h for h in HANDLERS)),
    Job("h2", java("H2", "/usr/share/java/h2.jar"), ("H2.salesReport", "H2.stockReport", "H2.returnsReport")),
    Job("python", python("/usr/bin/python3"), PYTHON_HANDLERS),
    Job("numpy", python("/usr/bin/python3", "numpy"), PYTHON_HANDLERS),
    Job("postgresql", pgbench, None),
    Job("duckdb", duckdb, None),
    Job("sqlite3", sqlite, "SeekRowid customers"),
    Job("make", make_lua, re.escape(COMPILED)),
    Job("c++", compiled("planted.cc", "g++", "g++", "-O2", "-g"), tuple(f"shop::Store::{n}()" for n in ("search", "list", "detail"))),
    Job("go", compiled("planted.go", "go", "golang-go", "build"), tuple(f"main.(*store).{n}" for n in ("search", "list", "detail"))),
    Job("git", beside_perf(repository, "git", "-C", "repository", "log", "--stat"), None),
    Job("sums of git", sums_beside_perf(repository, ("inflate", "exc_page_fault"), "git", "-C", "repository", "log", "--stat"), None),
    Job("sums of python", sums_beside_perf(lambda _: None, ("Py_BytesMain", "_PyEval_EvalFrameDefault"), "/usr/bin/python3",
                                           HERE + "/planted.py", "3", options=["--no-adapt"]), None),  # perf cannot unwind its trampolines
    Job("sums of c++", sums_beside_perf(planted_cc, ("main", "shop::Store::work", "shop::Store::search", "shop::Store::list"), "./planted", "3"), None),
    Job("sort", beside_perf(lines_to_sort, "sort", "-o", "/dev/null", "lines.txt"), None),
]


# ----------------------------------------------------------------------------------------------------------- answers

def first_lines(job):
    env = dict(os.environ, COLUMNS="80", LC_ALL="C.UTF-8")
    job.commands.append("tailor report")
    job.report = sh([TAILOR, "report", TRACE], cwd=DIR, env=env)
    m = re.search(r"^samples +(\d+) in", job.report, re.M)
    job.samples = int(m[1]) if m else 0
    return job.report.splitlines()[:LINES]


def planted_shares(job, lines):
    """The line of the last handler, and the three handlers' shares of their sum."""
    found = {}
    for number, line in enumerate(lines, 1):
        m = re.match(r" *([\d.]+) % ", line)
        for name in job.expected:
            if m and re.search(rf" {re.escape(name)}(  |$)", line):
                found[name] = (number, float(m[1]))
    missing = [n for n in job.expected if n not in found]
    if missing:
        raise Wrong(f"{missing[0]} is not in the first {LINES} lines")
    total = sum(share for _, share in found.values())
    return max(number for number, _ in found.values()), [100 * found[n][1] / total for n in job.expected], total


def read_answer(job):
    if job.expected is None:  # the job compared by itself
        job.enough = True
        return ""
    lines = first_lines(job)
    if isinstance(job.expected, tuple):
        number, shares, total = planted_shares(job, lines)
        job.enough = job.samples * total / 100 >= ENOUGH
        job.read = " : ".join(f"{s:.1f}" for s in shares)
        if max(abs(s - p) for s, p in zip(shares, PLANTED)) > POINTS and job.enough:
            raise Wrong(f"{job.read} where {PLANTED} is planted")
        return number
    job.enough = True
    for number, line in enumerate(lines, 1):
        if m := re.search(job.expected, line):
            job.read = m[0]
            return number
    raise Wrong(f"'{job.expected}' is not in the first {LINES} lines")


def table_line(job, answer):
    return f"{job.name:13} {' && '.join(job.commands):66} {answer}"


def do(job):
    """A line of the table; exit status."""
    job.read = job.report = ""
    seconds = 4.0
    try:
        while True:
            job.commands, job.enough = [], False
            job.do(job, seconds)
            try:
                number = read_answer(job)
                if job.enough:
                    break
            except Wrong:
                if job.samples >= ENOUGH or 2 * seconds > LONGEST_S:
                    raise
            seconds *= 2
            if seconds > LONGEST_S:
                raise Skip(f"this machine gave only {job.samples} samples")
        if len(job.commands) > 2:
            raise Wrong(f"{len(job.commands)} commands")
    except Skip as e:
        return f"{job.name:13} skipped, because {e}", 0
    except Wrong as e:
        return table_line(job, f"WRONG: {e}\n") + "".join(f"    | {line}\n" for line in job.report.splitlines()[:40]), 1
    planted = " : ".join(map(str, PLANTED)) if isinstance(job.expected, tuple) else "(most)" if job.expected else "as perf"
    return table_line(job, f"{number:4}  {planted:12} {job.read:20} {job.beside}"), 0


def main():
    global TAILOR, BUILD, DIR
    BUILD = os.path.abspath(sys.argv[1])
    TAILOR = BUILD + "/tailor"
    wanted = sys.argv[2:]
    unknown = [w for w in wanted if w not in [j.name for j in JOBS]]
    if unknown:
        sys.exit(f"there is no job {unknown[0]}: they are {', '.join(j.name for j in JOBS)}")
    print(f"{'job':13} {'commands':66} {'line':4}  {'planted':12} {'read':20} beside")
    bad = 0
    for job in JOBS:
        if wanted and job.name not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="tailor-everyday-") as DIR:
            begin = time.monotonic()
            line, status = do(job)
        print(line.rstrip() + (f"  ({time.monotonic() - begin:.0f} s)" if os.environ.get("TIMES") else ""), flush=True)
        bad |= status
    sys.exit(bad)


if __name__ == "__main__":
    main()
