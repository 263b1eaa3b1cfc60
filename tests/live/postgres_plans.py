# SPDX-License-Identifier: MIT
"""Records of PostgreSQL's plans, read from outside, against EXPLAIN.  postgres_plans.py BUILD

A cluster of its own is made, and removed; of the server whose programs are in POSTGRES_BIN, or else of the newest one that is installed.  One recording of the postmaster goes on while a client executes one statement after another, each
until the trace has its plan.
"""
import glob
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)) + f for f in ("/..", "/../postgres")]
import calls  # noqa: E402
import conditions  # noqa: E402
import profile  # noqa: E402
from evidence import decide, gather  # noqa: E402

PATIENCE_S = 300
B = os.path.abspath(sys.argv[1])
SESSION, QUERY, NODE = 0x70670001, 0x70670002, 0x70670003
COMMON, CLASS, EVERYWHERE = 4, 1, 4

SETUP = """
create table t(k int, v int, w text);
insert into t select i, i % 100, 'text ' || i from generate_series(1, 60000) i;
create index t_v on t(v);
create table u(k int primary key, v int);
insert into u select i, i % 7 from generate_series(1, 3000) i;
create function inner_queries(n int) returns bigint language plpgsql as $$
declare r bigint := 0; x bigint;
begin
	for i in 1..n loop
		select count(*) /* inside_one */ into x from t where v > i % 10; r := r + x;
		select sum(t.v) /* inside_two */ into x from t join u on t.k = u.k + i % 2; r := r + x;
	end loop;
	return r;
end $$;
vacuum analyze;
"""
MANY = " union all ".join(f"select count(*) from u where v = {i}" for i in range(520))
# name, what is set before, the statement, how it is executed (%s: the statement)
PLAIN = "set max_parallel_workers_per_gather=0;"
CASES = [
    ("join", PLAIN, "select u.v, count(*), sum(t.v) from t join u on t.k = u.k or t.v = u.k where t.w <> 'x' group by 1 order by 2 desc "
     "limit 3", "%s"),
    ("hash", PLAIN, "select a.v, sum(b.v) from t a left join t b on a.k = b.v group by a.v", "%s"),
    ("bitmap", PLAIN + "set enable_seqscan=off;set enable_indexscan=off;", "select count(*), max(w) from t where v < 30 or v > 60", "%s"),
    ("index", PLAIN + "set enable_seqscan=off;set enable_bitmapscan=off;", "select count(w), max(k) from t where v between 3 and 80",
     "%s"),
    ("subplans", PLAIN, "with c as materialized (select v, count(*) n from t group by v) select count(*), "
     "sum((select count(*) from u where u.v = x.v)) from c x, c y where x.n > (select avg(n) from c) - 1", "%s"),
    ("window", PLAIN, "select max(r) from (select rank() over (partition by v order by w) r from t) x", "%s"),
    ("write", PLAIN, "update u set v = v + 1 where k in (select k from t where v < 50)", "begin; %s; rollback"),
    ("prepared", PLAIN + "prepare p(int) as select /* prepared */ count(distinct w) from t where v > $1;", None, "execute p(3)"),
    ("cursor", PLAIN, "select t.k, t.w, u.v from t, u where t.k % 3000 = u.k order by t.w",
     "begin; declare c cursor for %s; fetch 1 from c; fetch 100000 from c; commit"),
    ("workers", "set max_parallel_workers_per_gather=2;set parallel_setup_cost=0;set parallel_tuple_cost=0;"
     "set min_parallel_table_scan_size=0;", "select count(*), sum(length(a.w)) from t a join t b on a.v = b.v where b.k % 10 = 0", "%s"),
    ("many", PLAIN, MANY, "%s"),
]


def skip(reason):
    print("skipped, because " + reason)
    sys.exit(77)


def fail(text):
    print(text)
    sys.exit(1)


class Cluster:
    """A server as an unprivileged user, with nothing but a socket in its own folder."""

    def __init__(self, bin_folder):
        self.bin = bin_folder
        self.dir = tempfile.mkdtemp(prefix="tailor-postgres-")
        self.user = []
        if os.getuid() == 0:
            name = next((n for n in ("postgres", "nobody") if n in {p.pw_name for p in pwd.getpwall()}), None)
            self.user = ["setpriv", f"--reuid={name}", "--clear-groups", f"--regid={pwd.getpwnam(name).pw_gid}"]
            os.chown(self.dir, pwd.getpwnam(name).pw_uid, -1)
        self.server = None
        self.run("initdb", "-D", "data", "-A", "trust", "-U", "postgres", "--locale=C", "-E", "UTF8")

    def run(self, program, *arguments):
        p = subprocess.run(self.user + [f"{self.bin}/{program}", *arguments], cwd=self.dir, capture_output=True, text=True)
        if p.returncode:
            fail(f"{program}: {p.stdout}{p.stderr}")

    def start(self, program=None):
        log = open(f"{self.dir}/log", "a", encoding="utf-8")
        self.server = subprocess.Popen(
            self.user + [program or f"{self.bin}/postgres", "-D", "data", "-k", self.dir, "-c", "listen_addresses=", "-c", "fsync=off",
                         "-c", "autovacuum=off", "-c", "jit=off", "-c", "max_worker_processes=8"],
            cwd=self.dir, stdout=log, stderr=log)
        self.wait(lambda: self.try_sql("select 1").returncode == 0, "the server starts", self.check)

    def check(self):
        if self.server.poll() is not None:
            fail("the server ended: " + open(f"{self.dir}/log", encoding="utf-8").read()[-2000:])

    def psql(self):
        own = f"{self.bin}/psql"
        return [own if os.path.exists(own) else "psql", "-h", self.dir, "-U", "postgres", "-d", "postgres", "-qAtX", "-v", "ON_ERROR_STOP=1"]

    def try_sql(self, sql):
        return subprocess.run(self.psql() + ["-f", "-"], input=sql, capture_output=True, text=True)

    def sql(self, sql):
        p = self.try_sql(sql)
        if p.returncode:
            fail(f"psql: {p.stderr}\n{sql[:1000]}")
        return p.stdout

    @staticmethod
    def wait(condition, what, meanwhile=None):
        end = time.time() + PATIENCE_S
        while not condition():
            if time.time() > end:
                fail(f"not within {PATIENCE_S} s: {what}")
            if meanwhile:
                meanwhile()
            time.sleep(0.1)

    def stop(self):
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGQUIT)
            self.server.wait()
        self.server = None

    def remove(self):
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)


class Client:
    """Executes statements again and again, until it is stopped."""

    def __init__(self, cluster, before, again):
        self.p = subprocess.Popen(cluster.psql(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.p.stdin.write(before + "\n\\echo @@ begin\nselect pg_backend_pid();\n\\echo @@ again\n")
        self.p.stdin.flush()
        self.go_on = True
        self.error = ""
        self.pid = 0
        self.again = again
        self.nr_ended = -1
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        for line in self.p.stdout:
            if line.strip().isdigit() and not self.pid:
                self.pid = int(line)
            if not line.startswith("@@ again"):
                continue
            self.nr_ended += 1
            if not self.go_on:
                break
            try:
                self.p.stdin.write(self.again + ";\n\\echo @@ again\n")
                self.p.stdin.flush()
            except BrokenPipeError:
                break
        self.error = self.p.stderr.read() if self.p.poll() else ""

    def stop(self):
        self.go_on = False
        self.thread.join()
        try:
            self.p.stdin.close()
        except BrokenPipeError:
            pass
        self.p.wait()


def text_of(value):
    return value["text"] if isinstance(value, dict) else value


class Trace:
    def __init__(self, path):
        self.names, self.details, self.roots, self.nodes, self.edges, self.links = {}, {}, [], {}, {}, {}
        self.notices, self.sessions, self.samples, self.classes = [], {}, 0, {}
        dump = subprocess.run([f"{B}/tailor", "dump", "--json", path], capture_output=True, text=True).stdout
        for line in dump.splitlines():
            try:
                r = json.loads(line)
            except ValueError:
                continue
            self.take(r["record"], r["pid"], r["fields"])

    def take(self, kind, pid, f):
        if kind == "COMPONENT":
            self.names[f["level"], f["component"]] = text_of(f["name"])
            self.details[f["level"], f["component"]] = text_of(f["detail"])
            if f["level"] == SESSION:
                self.sessions[pid] = text_of(f["name"])
        elif kind == "EDGE":
            self.edges[f["from"], f["to"]] = f["order"]
        elif kind == "LINK":
            self.links[f["lower"]] = f["upper"]
        elif kind == "NOTICE":
            self.notices.append(text_of(f["sentence"]))
        elif kind == "SAMPLES":
            self.samples += f["nr"]
        elif kind == "OBJECT":
            levels = {c["level"]: c["component"] for c in f["components"]}
            if f["flags"] & EVERYWHERE:
                if f["functions"] or NODE in levels:
                    fail(f"an object that is everywhere has functions or a node: {f}")
            elif f["flags"] & CLASS:
                self.classes.setdefault(pid, set()).add(levels[NODE])
            elif f["upper"] == 0:
                self.roots.append({"pid": pid, "address": f["address"], "query": levels[QUERY], "children": []})
                self.nodes = {k: v for k, v in self.nodes.items() if k[0] != pid}
                self.nodes[pid, f["address"]] = self.roots[-1]
            else:
                node = {"id": levels[NODE], "functions": f["functions"], "children": []}
                if (pid, f["upper"]) not in self.nodes:
                    fail(f"an object of process {pid} has an upper one that was not announced: {f}")
                self.nodes[pid, f["upper"]]["children"].append(node)
                self.nodes[pid, f["address"]] = node
                if levels[QUERY] != self.links.get(levels[NODE]):
                    fail(f"a node of another query: {f}")

    def queries(self, tag):
        """Executions whose text has this."""
        return [r for r in self.roots if tag in self.details.get((QUERY, r["query"]), "")]

    def lines(self, root):
        out = []

        def walk(n, depth):
            out.append((depth, self.names[NODE, n["id"]]))
            for c in n["children"]:
                if (c["id"], n["id"]) not in self.edges:
                    fail(f"no edge from {self.names[NODE, c['id']]} to {self.names[NODE, n['id']]}")
                walk(c, depth + 1)

        for c in root["children"]:
            walk(c, 0)
        return out


def plain(name):
    """Aliases that EXPLAIN numbers, and functions that it names, are not read from outside."""
    name = re.sub(r"_\d+$", "", name)
    name = re.sub(r"^((?:Parallel )?\S.* Scan.* on )(\S+) \2$", r"\1\2", name)
    return re.sub(r"^Function Scan on \S+ ", "Function Scan on ", name)


def explained(cluster, before, statement):
    """(depth, name) of each node, in the order in which EXPLAIN prints them."""
    out, indents = [], []
    for line in cluster.sql(f"{before} explain (costs off) {statement}").splitlines():
        m = re.match(r"( *)->  (.*)", line)
        header = re.match(r"( *)(SubPlan|InitPlan|CTE) ", line)
        while header and indents and indents[-1] >= len(header[1]):
            indents.pop()
        if not m and (out or line.startswith(" ")):
            continue
        indent, name = (len(m[1]), m[2]) if m else (-1, line)
        while indents and indents[-1] >= indent:
            indents.pop()
        indents.append(indent)
        out.append((len(indents) - 1, plain(name)))
    return out


def compare(name, wanted, found):
    found = [(d, plain(n)) for d, n in found]
    if found != wanted:
        fail(f"{name}: EXPLAIN has\n  " + "\n  ".join(map(str, wanted)) + "\nand the trace\n  " + "\n  ".join(map(str, found)))


RECORDERS = []


def attach(pid, trace):
    RECORDERS.append(subprocess.Popen([f"{B}/tailor", "attach", "-o", trace, str(pid)], stderr=subprocess.PIPE, text=True))
    return RECORDERS[-1]


def end(recorder):
    RECORDERS.remove(recorder)
    recorder.send_signal(signal.SIGINT)
    message = recorder.communicate()[1]
    if recorder.returncode:
        fail(f"tailor attach: exit {recorder.returncode}\n{message}")
    return message


def wait_for(trace, client, condition, what):
    """Until the growing trace fulfils it."""
    found = []

    def look():
        if os.path.exists(trace):
            found[:] = [Trace(trace)]
        return found and condition(found[0])

    def alive():
        if client and client.p.poll() is not None:
            client.stop()
            fail(f"{what}: the client ended: {client.error}")
        for r in RECORDERS:
            if r.poll() is not None:
                fail(f"{what}: tailor attach: exit {r.returncode}\n{r.stderr.read()}")

    Cluster.wait(look, what, alive)
    return found[0]


def case_of(cluster, trace, name, before, statement, how):
    tagged = statement and statement.replace("select", f"select /* case_{name} */", 1)
    tag = f"case_{name}" if statement else name
    client = Client(cluster, before, how.replace("%s", tagged) if statement else how)
    try:
        wanted = explained(cluster, before, tagged if statement else how)
        below = conditions.of_explain(cluster.sql(f"{before} explain {tagged if statement else how}"))
        if name == "workers" and not any(n == "Gather" for _, n in wanted):
            skip(f"this server plans no workers: {wanted}")

        def seen(t):
            workers = {r["pid"] for r in t.queries(tag)} - {client.pid}
            return any(r["pid"] == client.pid and r["children"] for r in t.queries(tag)) and (name != "workers" or workers)

        t = wait_for(trace, client, seen, f"{name}: its plan is in the trace")
    finally:
        client.stop()
    own = [r for r in t.queries(tag) if r["pid"] == client.pid]
    compare(name, wanted, t.lines(own[0]))
    found = {c for i, _ in ids(own[0]) for c in conditions.of_node(t.names[NODE, i], t.details[NODE, i])}
    if conditions.lacking(below, found):
        fail(f"{name}: EXPLAIN has {conditions.lacking(below, found)}, and the trace {sorted(found)}")
    if t.sessions.get(client.pid) != "postgres@postgres [local] psql":
        fail(f"{name}: its session is called {t.sessions.get(client.pid)}")
    if name == "many" and len(wanted) < 1000:
        fail(f"many: {len(wanted)} nodes")
    for r in t.queries(tag):
        if r["pid"] == client.pid:
            continue
        if r["query"] != own[0]["query"] or not t.sessions[r["pid"]].endswith("(parallel worker)"):
            fail(f"{name}: a worker has another query or session: {t.sessions[r['pid']]}")
        if not {i for i, _ in ids(r)} <= {i for i, _ in ids(own[0])}:
            fail(f"{name}: a worker's nodes are not its leader's")
    print(f"{name}: {len(wanted)} nodes and {len(below)} conditions and keys as in EXPLAIN, seen {len(own)} times")


def ids(root):
    stack, out = list(root["children"]), []
    while stack:
        n = stack.pop()
        out.append((n["id"], len(n["functions"])))
        stack += n["children"]
    return out


def inside(cluster, trace):
    client = Client(cluster, PLAIN + "set plan_cache_mode=force_custom_plan;", "select inner_queries(20)")
    try:
        def seen(t):
            return all(any(r["pid"] == client.pid and r["children"] for r in t.queries(tag))
                       for tag in ("inner_queries", "inside_one", "inside_two"))

        t = wait_for(trace, client, seen, "queries inside of a function are in the trace")
    finally:
        client.stop()
    compare("inside_one", [(0, "Aggregate"), (1, "Seq Scan on t")], t.lines(t.queries("inside_one")[0]))
    compare("outside", [(0, "Result")], t.lines(t.queries("inner_queries")[0]))
    print("queries inside of a function: as in EXPLAIN")


class Statements:
    """A connection for calls.record()."""

    def __init__(self, cluster):
        self.cluster = cluster

    def run(self, sql):
        self.cluster.sql(PLAIN + sql)


def called(cluster, trace):
    """Functions, triggers, foreign keys, statements without a plan."""
    found = {}
    cluster.sql(calls.SETUP)

    def recorded(seconds):
        told = subprocess.run([f"{B}/tailor", "doctor", str(cluster.server.pid)], capture_output=True, text=True, check=False).stdout
        if "plan nodes of each query" not in " ".join(told.split()):
            fail(f"doctor, of a server: expected its plan nodes:\n{told}")
        recorder = attach(cluster.server.pid, f"{trace}.{seconds}")
        warm = Client(cluster, PLAIN, "select /* warm */ count(*) from t where v % 3 = 1")
        wait_for(f"{trace}.{seconds}", warm, lambda t: t.queries("warm"), "the recorder reads plans")
        warm.stop()
        calls.record(Statements(cluster), 4 * seconds)
        end(recorder)
        found.update(calls.tables(f"{B}/tailor", f"{trace}.{seconds}"))
        return calls.samples(found)

    gather(300, recorded)
    faults = calls.faults(found)
    if faults:
        fail("\n".join(faults))
    print("functions, triggers and statements without a plan: where they were called")


def ran_s(pid):
    """seconds of a processor that the first thread of a process has used"""
    return int(open(f"/proc/{pid}/schedstat", encoding="utf-8").read().split()[0]) / 1e9


def one_backend(cluster, trace):
    """Inside of a query already, and alone."""
    client = Client(cluster, PLAIN, "select /* lasting */ count(*) from t a, t b where a.v + b.v < 0")
    recorder = None
    try:
        Cluster.wait(lambda: client.pid and cluster.sql(f"select state from pg_stat_activity where pid = {client.pid}").strip() == "active",
                     "the query runs")
        begin = ran_s(client.pid)
        Cluster.wait(lambda: ran_s(client.pid) > begin + 0.5, "the query has what memory it needs")
        maps = open(f"/proc/{client.pid}/maps", encoding="utf-8").read()
        recorder = attach(client.pid, trace)
        t = wait_for(trace, client, lambda t: t.queries("lasting"), "a query that ran before is in the trace")
        end(recorder)
        if open(f"/proc/{client.pid}/maps", encoding="utf-8").read() != maps:
            fail("the recording left something in the backend")
        if {r["pid"] for r in t.roots} != {client.pid}:
            fail("other backends were recorded")
    finally:
        cluster.sql("select pg_terminate_backend(pid) from pg_stat_activity where query like '%lasting%' and pid <> pg_backend_pid()")
        client.stop()
    print("one backend inside of a query: read")


def waited_s(pid):
    """Seconds in which a process's threads were ready and had no processor."""
    waited = 0.0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            waited += int(open(path, encoding="ascii").read().split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            pass
    return waited


def short(cluster, trace):
    """Statements of some milliseconds, one after another: all of them are seen, and not only those that a look happens to meet."""
    client = Client(cluster, PLAIN, "select /* short */ count(*) from t where w like '%5%7%'")

    def recorded(nr):
        recorder = attach(client.pid, f"{trace}.{nr}")
        begin = time.monotonic()
        wait_for(f"{trace}.{nr}", client, lambda t: t.samples >= 500, "samples of short statements are in the trace")
        waited = waited_s(recorder.pid) / (time.monotonic() - begin)
        end(recorder)
        samples = list(profile.samples(f"{B}/tailor", f"{trace}.{nr}"))
        first = next((i for i, s in enumerate(samples) if s.node and not s.in_class()), len(samples))
        samples = samples[first:]  # looks come sooner from then on
        named = sum(s.is_named() for s in samples)
        print(f"short statements: {named} of {len(samples)} samples have one; the recorder waited for a processor for {100 * waited:.0f} % of the time")
        if len(samples) < 200 or (named < 0.9 * len(samples) and waited > 0.02):
            return None  # on a busy machine a recorder that may not raise its priority looks too late
        return named >= 0.9 * len(samples)

    try:
        Cluster.wait(lambda: client.pid, "the client executes statements")
        holds = decide("of short statements nine in ten samples have a node or a class of work", recorded)
    finally:
        client.stop()
    if not holds:
        fail("short statements are missed")


def repeated(cluster, trace):
    """Equal statements, each right behind the one before, are as many executions."""
    def recorded(nr):
        path = f"{trace}.{nr}"
        recorder = attach(cluster.server.pid, path)
        warm = Client(cluster, PLAIN, "select /* warm */ count(*) from t where v % 3 = 1")
        wait_for(path, warm, lambda t: t.queries("warm"), "the recorder reads plans")
        warm.stop()
        begin, waited = time.monotonic(), waited_s(recorder.pid)
        client = Client(cluster, PLAIN, "select /* repeated */ count(*) from generate_series(1, 100000)")
        Cluster.wait(lambda: client.nr_ended >= 30, "the client executes statements")
        client.stop()
        waited = (waited_s(recorder.pid) - waited) / (time.monotonic() - begin)
        end(recorder)
        rows = json.loads(subprocess.run([f"{B}/tailor", "report", "--view", "queries", "--json", path], capture_output=True, text=True,
                                         check=True).stdout)["tables"]["queries"]
        seen = sum(r["calls"] or 0 for r in rows if "generate_series" in r["query"])
        print(f"equal statements: {seen} of {client.nr_ended} executions are seen")
        if seen < 0.9 * client.nr_ended and waited > 0.02:
            return None  # on a busy machine a recorder that may not raise its priority looks too late
        return 0.9 * client.nr_ended <= seen <= client.nr_ended

    if not decide("of equal statements of some milliseconds nine in ten are executions of their own", recorded):
        fail("equal statements are taken to be one")


def killed(cluster, trace):
    """The server starts anew, with other processes, and the recording goes on."""
    recorder = attach(cluster.server.pid, trace)
    client = Client(cluster, PLAIN, "select /* before */ count(*) from t where v % 3 = 1")
    wait_for(trace, client, lambda t: t.queries("before"), "the query before the kill is in the trace")
    def checkpointer():  # the server ends it with all others, and starts another one
        p = cluster.try_sql("select pid from pg_stat_activity where backend_type = 'checkpointer'")
        return p.stdout.strip() if p.returncode == 0 else ""

    before = checkpointer()
    os.kill(client.pid, signal.SIGKILL)
    client.stop()
    Cluster.wait(lambda: checkpointer() not in ("", before), "the server recovers")
    client = Client(cluster, PLAIN, "select /* behind */ sum(k) from t where v % 3 = 1")
    wait_for(trace, client, lambda t: t.queries("behind"), "the query behind the kill is in the trace")
    client.stop()
    end(recorder)
    print("a killed backend: the recording went on")


def unknown_version(cluster, trace):
    program = f"{cluster.dir}/postgres"
    data = open(f"{cluster.bin}/postgres", "rb").read()
    number = re.search(rb"postgres \(PostgreSQL\) (\d\d)", data)[1]
    with open(program, "wb") as f:
        f.write(data.replace(b"postgres (PostgreSQL) " + number, b"postgres (PostgreSQL) 99"))
    os.chmod(program, 0o755)
    told = " ".join(subprocess.run([f"{B}/tailor", "doctor", program], capture_output=True, text=True, check=False).stdout.split())
    if "PostgreSQL 99 plan nodes and conditions are missing, because it is newer" not in told:
        fail(f"doctor, of an unknown version:\n{told}")
    cluster.stop()
    cluster.start(program)
    recorder = attach(cluster.server.pid, trace)
    client = Client(cluster, PLAIN, "select count(*) from t where v % 3 = 1")
    wait_for(trace, client, lambda t: t.samples > 0, "samples of an unknown version are in the trace")
    client.stop()
    message = end(recorder)
    t = Trace(trace)
    if t.roots or "PostgreSQL 99: plan nodes and conditions are missing, because it is newer" not in message:
        fail(f"an unknown version: {len(t.roots)} queries, and\n{message}")
    print("an unknown version: a sentence, and samples")


def main():
    folders = [os.environ["POSTGRES_BIN"]] if "POSTGRES_BIN" in os.environ else [
        f for f in glob.glob("/usr/lib/postgresql/*/bin") if os.path.exists(f"{f}/initdb") and os.path.exists(f"{f}/psql")]
    layouts = open("jitreg/engines/postgres_layout.c", encoding="utf-8").read()
    folders = [f for f in folders if "POSTGRES_BIN" in os.environ or f".major = {f.split('/')[-2]}," in layouts]
    if not folders:
        skip("PostgreSQL of a known version is not installed")
    if os.getuid() and int(open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read()) > 2:
        skip("this user may not take samples")
    cluster = Cluster(folders[-1])
    recorder = None
    try:
        cluster.start()
        cluster.sql(SETUP)
        trace = f"{cluster.dir}/t.tlr"
        recorder = attach(cluster.server.pid, trace)
        for case in CASES:
            case_of(cluster, trace, *case)
        inside(cluster, trace)
        end(recorder)
        called(cluster, f"{cluster.dir}/called.tlr")
        one_backend(cluster, f"{cluster.dir}/one.tlr")
        short(cluster, f"{cluster.dir}/short.tlr")
        repeated(cluster, f"{cluster.dir}/repeated.tlr")
        killed(cluster, f"{cluster.dir}/killed.tlr")
        if "POSTGRES_BIN" not in os.environ:  # a copy of such a server may not find its libraries
            unknown_version(cluster, f"{cluster.dir}/unknown.tlr")
    finally:
        if recorder and recorder.poll() is None:
            recorder.kill()
            recorder.communicate()
        cluster.remove()


main()
