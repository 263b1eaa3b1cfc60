# SPDX-License-Identifier: MIT
# tests/golden/store_queries.py TAILOR DIR: see store_queries.sh.
import json, os, random, sqlite3, struct, subprocess, sys, time
sys.path[:0] = ["tests"]
from trace_file import FILES, SAMPLES, Trace, deltas, leb, record, samples

TAILOR, DIR = sys.argv[1:]
PID, PERIOD, SECOND = 1000, 10**6, 10**9
SESSION, QUERY, NODE = 1, 2, 3
COMMON = 4
random.seed(7)
os.environ["TMPDIR"] = DIR
os.environ["TZ"] = "UTC"
bad = []
now = int(time.time()) // 3600 * 3600 * SECOND

def expect(holds, sentence):
    if not holds:
        bad.append(sentence)
        print(sentence)

def tailor(*arguments, status=0):
    p = subprocess.run([TAILOR, *arguments], capture_output=True, text=True)
    expect(p.returncode == status, f"tailor {' '.join(arguments)}: expected exit status {status}, got {p.returncode}: {p.stdout[-300:]}{p.stderr[-300:]}")
    return p

def shown(*arguments, status=0):
    return json.loads(tailor(*arguments, "--json", status=status).stdout)

def at(minutes):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now / 1e9 + 60 * minutes))

# A node: (number, name, detail, consumer, samples). %d is a literal.
INDEX = ("select sum(amount) from orders where cust = %d",
         [(11, "Aggregate", "cost=8.44..8.%d rows=1 width=8", 0, 2), (12, "Index Scan on orders", "Index Cond: (cust = %d); cost=0.42..8.44 rows=%d width=4", 11, 30)])
SEQ = ("select sum(amount) from orders where cust = %d",
       [(11, "Aggregate", "cost=8.44..8.%d rows=1 width=8", 0, 20), (13, "Seq Scan on orders", "Filter: (cust = %d); cost=0.00..%d rows=2 width=4", 11, 400)])
COUNT = ("select count(*) from item where price > %d",
         [(21, "Aggregate", "cost=1.00..2.%d rows=1 width=8", 0, 100), (22, "Seq Scan on item", "Filter: (price > %d); cost=0.00..9.00 rows=%d width=4", 21, 500)])

def epoch(name, number, real_ns, queries, recording=77, build=b"\xaa", started=False, ran_before=False):
    body = record("HEADER", 0, 2, "test", real_ns, "host", "x86_64", "6.1", 2, "/", [["host"]], "run", 0, number, recording)
    body += record("EVENT", 0, 0, "task-clock", "ns", 1, 1, PERIOD, 0, 0, 0, 0, 0, "cpu", 0)
    body += record("PROCESS", PID, 1, "/usr/bin/host", "host")
    body += record("MMAP", PID, 0x10000000, 4096, 0, 5, "/usr/bin/host", b"" if ran_before else build, 1, 2, 3, time_ns=1)
    if started: # the recorder takes up a program when it starts
        body = body.replace(record("PROCESS", PID, 1, "/usr/bin/host", "host"), record("PROCESS", PID, 1, "/usr/bin/host", "host", time_ns=SECOND))
    body += record("LEVEL", PID, QUERY, 0, "query", []) + record("LEVEL", PID, NODE, 1, "node", [[QUERY]])
    ips, literal = [], 100 + 7 * number
    for q, (text, nodes) in enumerate(queries, 1):
        sql = text % literal
        id_of = 900 + nodes[0][0]
        body += record("COMPONENT", PID, QUERY, COMMON, id_of, text.replace("%d", "?"), sql)
        for n, node, detail, consumer, nr in nodes:
            body += record("COMPONENT", PID, NODE, COMMON, n, node, detail.replace("%d", str(literal)))
            body += record("LINK", PID, NODE, QUERY, n, id_of, 1, 0)
            if consumer:
                body += record("EDGE", PID, NODE, n, consumer, 0, 0, "")
            body += record("LOAD", PID, PID, PID, 0x10000 * n, 0x10000 * n, 64, n, f"f_{n}", b"\x90" * 64)
            body += record("CODE_MAP", PID, 0x10000 * n, 0, [[0, NODE, n]])
            ips += [0x10000 * n + 8] * max(1, round(random.gauss(nr, nr**0.5)))
    random.shuffle(ips)
    trace, table = Trace(body), sorted(set(ips))
    if ran_before: # then the kernel does not tell the build id
        trace.add(FILES, record("IMAGE_FILE", 0, build.hex(), "/usr/bin/host", build, 4096, "", [], 1, 2, 3))
    trace.add(SAMPLES, samples(len(ips), [
        (1, 2, deltas(2000 + 10**7 * i for i in range(len(ips)))), (2, 3, leb(PID)), (3, 3, leb(PID)),
        (5, 4, leb(len(table)) + deltas(table) + b"".join(leb(table.index(ip)) for ip in ips)), (7, 3, leb(PERIOD))]))
    trace.write(f"{DIR}/{name}")
    return f"{DIR}/{name}"

# ---- a query, and a node, is one row, although each epoch has another literal and other estimates
store = f"{DIR}/s.tlrs"
os.mkdir(f"{store}.epochs")
traces = [epoch(f"s.tlrs.epochs/w.{i + 1:06}.tlr", i + 1, now - (50 - i) * 60 * SECOND, [INDEX if i < 6 else SEQ, COUNT]) for i in range(12)]
tailor("db", "add", store, *traces)
queries = {c["name"] for c in shown("db", "report", store, "--view", "queries")["tables"]["queries"]}
expect(queries == {"select sum(amount) from orders where cust = ?", "select count(*) from item where price > ?"}, f"expected two queries, got {queries}")
components = shown("db", "report", store)["tables"]["components"]
details = [(c["name"], c["name_detail"] if "name_detail" in c else None, c["query"]) for c in components]
expect(sorted(c["name"] for c in components) == ["Aggregate", "Aggregate", "Index Scan on orders", "Seq Scan on item", "Seq Scan on orders"],
       f"expected five nodes, got {details}")
text = tailor("db", "report", store).stdout
expect("Filter: (cust = ?)" in text and "cost=" not in text, f"expected details without literals and estimates, got {text}")
line = shown("db", "timeline", store)["tables"]["timeline"]
expect(len(line) == 5, f"expected five lines over time, got {line}")
same = shown("db", "diff", f"{store}@{at(-50)}..{at(-47)}", f"{store}@{at(-47)}..{at(-44)}", "--all")["tables"]["changes"]
expect(not [c for c in same if c["significant"]] and all(c["share_a"] and c["share_b"] for c in same), f"expected no change by a literal, got {same}")
one = f"{DIR}/one.tlr"
tailor("db", "trace", store, "-o", one)
whole = shown("report", "--view", "queries", one)["tables"]["queries"]
alone = shown("report", "--view", "queries", traces[0])["tables"]["queries"]
expect(len(whole) == 2 and len(alone) == 2 and {q["query"] for q in whole} == queries, f"expected each statement once in one trace, got {whole}")

# ---- another plan is told, with the time and both nodes; another literal is not
sentence = 'query "select sum(amount) from orders where cust = ?" has another plan%s: Seq Scan on orders in place of Index Scan on orders'
since = time.strftime(" since %Y-%m-%d %H:%M:%S", time.gmtime(now / 1e9 - 44 * 60))
found = shown("db", "changes", store + f"@{at(-60)}..{at(0)}", status=3)
plans = [c for c in found["tables"]["changes"] if c["kind"] == "plan"]
expect(len(plans) == 1 and found["plan"] == sentence % since, f"expected the dropped index, got {found}")
for view in "functions", "processes", "queries": # whatever the lines are of
    found = shown("db", "changes", "--view", view, store + f"@{at(-60)}..{at(0)}", status=3)
    expect(found["plan"] == sentence % since, f"expected the dropped index beside {view}, got {found}")
told = shown("db", "diff", f"{store}@{at(-50)}..{at(-44)}", f"{store}@{at(-44)}..{at(-38)}", "--view", "queries")
expect(told["plan"] == sentence % "", f"expected the dropped index between two windows, got {told}")
back = shown("db", "diff", f"{store}@{at(-44)}..{at(-38)}", f"{store}@{at(-50)}..{at(-44)}")
expect("Index Scan on orders in place of Seq Scan on orders" in back["plan"], f"expected the index to be back, got {back}")
# a cheap query has few samples, and one of its old plan may be in a node that had none before: the time is that of the new plan
BITMAP = [(INDEX[0], [(n, name, "", 11 if n - 11 else 0, 1)]) for n, name in ((11, "Aggregate"), (14, "Bitmap Index Scan on orders_cust"), (15, "Bitmap Heap Scan on orders"))]
cheap = f"{DIR}/cheap.tlrs"
tailor("db", "add", cheap, *[epoch(f"c.{i}.tlr", i + 1, now - (50 - i) * 60 * SECOND, [BITMAP[(0, 1, 0, 1, 2, 0)[i]] if i < 6 else SEQ, COUNT], 83)
                             for i in range(12)])
found = shown("db", "changes", f"{cheap}@{at(-60)}..{at(0)}", status=3)
expect(since in found["plan"], f"expected another plan{since}, got {found['plan']}")

quiet = f"{DIR}/quiet.tlrs"
tailor("db", "add", quiet, *[epoch(f"q.{i}.tlr", i + 1, now - (50 - i) * 60 * SECOND, [INDEX, COUNT], 78) for i in range(12)])
for window in f"@{at(-60)}..{at(0)}", f"@{at(-47)}..{at(-44)}":
    found = shown("db", "changes", quiet + window)
    expect("plan" not in found and not found["found"], f"expected no change by a literal, got {found}")
expect("plan" not in shown("db", "diff", f"{quiet}@{at(-50)}..{at(-44)}", f"{quiet}@{at(-44)}..{at(-38)}"), "expected no other plan by a literal")

# ---- before there are hours of history, what was before a mark is compared with what came after it
text = tailor("db", "changes", f"{quiet}@{at(-60)}..{at(0)}").stdout
expect("No history of 5 hours yet" in text and "the middle of these epochs" in text, f"expected both halves to be compared, got {text}")
text = tailor("db", "changes", f"{quiet}@{at(-50)}..{at(-49)}").stdout
expect("One epoch is in that window" in text, f"expected one epoch to be too few, got {text}")
tailor("db", "deploy", quiet, "v2", "--from", at(-42))
text = tailor("db", "changes", f"{quiet}@{at(-60)}..{at(0)}").stdout
expect("deployment v2: 0 lines differ from before" in text, f"expected the deployment to be a mark, got {text}")
built = f"{DIR}/built.tlrs"
tailor("db", "add", built, *[epoch(f"b.{i}.tlr", i + 1, now - (50 - i) * 60 * SECOND, [COUNT] if i < 4 else [SEQ, COUNT], 79, b"\xaa" if i < 4 else b"\xbb")
                             for i in range(8)])
found = tailor("db", "changes", f"{built}@{at(-60)}..{at(0)}", status=3).stdout
again = f"{DIR}/again.tlrs"
tailor("db", "add", again, *[epoch(f"r.{i}.tlr", i + 1, now - (50 - i) * 60 * SECOND, [COUNT], 81, started=i == 4) for i in range(8)])
text = tailor("db", "changes", f"{again}@{at(-60)}..{at(0)}").stdout
expect("host started: 0 lines differ from before" in text, f"expected a start to be a mark, got {text}")
# A recording begins and ends within an epoch: the halves are those of the time, and too few samples of one side are no judgement.
alike = [(SEQ[0], [(*SEQ[1][1][:4], 300)]), (COUNT[0], [(*COUNT[1][1][:4], 300)])]
few = [(SEQ[0], [(*SEQ[1][1][:4], 30)])]
for begin in False, True:
    cut = f"{DIR}/cut.{begin}.tlrs"
    tailor("db", "add", cut, *[epoch(f"c.{begin}.{i}.tlr", i + 1, now - (50 * 60 - (i and 9 * i - 6)) * SECOND, few if i == 0 else alike, 82 + begin, started=begin and i == 1)
                               for i in range(3)])
    text = " ".join(tailor("db", "changes", f"{cut}@{at(-60)}..{at(0)}").stdout.split())
    holds = "middle of these epochs: 0 lines differ" in text
    if begin:
        holds = "host started: not compared, since of the 100 samples that are needed on each side there are " in text
    expect(holds, f"expected no change of an epoch that is cut, got {text}")
expect("host: build bb in place of aa" in found and "Seq Scan on orders" in found, f"expected another build to be a mark, got {found}")
with sqlite3.connect(built) as db: # the program's own start, a moment before its build was seen, takes the build nothing away
    db.execute("INSERT INTO meta VALUES(?, ?)", (f"mark {now - 46 * 60 * SECOND - 1:020}", "s\nhost started"))
found = tailor("db", "changes", f"{built}@{at(-60)}..{at(0)}", status=3).stdout
expect("host: build bb in place of aa: 2 lines" in found and "started" not in found, f"expected the build to be compared, got {found}")
crowded = f"{DIR}/crowded.tlrs"
tailor("db", "add", crowded, *[epoch(f"w.{i}.tlr", i + 1, now - (55 - i) * 60 * SECOND, [COUNT] if i < 4 else [SEQ, COUNT], 85, b"\xaa" if i < 4 else b"\xbb")
                               for i in range(16)])
with sqlite3.connect(crowded) as db: # programs that start on a busy machine take no room of a build
    for n in range(10):
        db.execute("INSERT INTO meta VALUES(?, ?)", (f"mark {now - (50 - n) * 60 * SECOND + n:020}", f"s\nprogram {n} started"))
found = tailor("db", "changes", f"{crowded}@{at(-60)}..{at(0)}", status=3).stdout
expect("host: build bb in place of aa" in found and "program 9 started" in found and found.count(" lines differ") == 8,
       f"expected the build among eight marks, got {found}")
before = f"{DIR}/before.tlrs"
tailor("db", "add", before, *[epoch(f"e.{i}.tlr", i + 1, now - (50 - i) * 60 * SECOND, [COUNT], 84, b"\xaa" if i < 4 else b"\xbb", ran_before=i < 4) for i in range(8)])
text = tailor("db", "changes", f"{before}@{at(-60)}..{at(0)}").stdout
expect("host: build bb in place of aa" in text, f"expected another build of a program that ran before the recorder to be a mark, got {text}")

# A new build of a program is compared by its functions, among each other: that a query of another program took the processors, so that
# this one has a smaller share of the machine, is no change of all its functions.
def shop(name, number, real_ns, price, scan, build, service="shopd"):
    body = record("HEADER", 0, 2, "test", real_ns, "host", "x86_64", "6.1", 2, "/", [["host"]], "run", 0, number, 86)
    body += record("EVENT", 0, 0, "task-clock", "ns", 1, 1, PERIOD, 0, 0, 0, 0, 0, "cpu", 0)
    body += record("LEVEL", PID, QUERY, 0, "query", []) + record("LEVEL", PID, NODE, 1, "node", [[QUERY]])
    body += record("COMPONENT", PID, NODE, COMMON, 13, "Seq Scan on orders", "")
    ips = []
    for pid, program, work in (PID, "db", [("scan", scan)]), (PID + 1, service, [("price", price), ("tax", 300), ("ship", 400)]):
        body += record("PROCESS", pid, 1, f"/usr/bin/{program}", program)
        body += record("MMAP", pid, 0x10000000, 4096, 0, 5, f"/usr/bin/{program}", build if pid != PID else b"\xcc", 1, 2, pid, time_ns=1)
        for n, (function, nr) in enumerate(work, 1):
            at = 0x10000 * n + 0x1000 * (pid - PID)
            body += record("LOAD", pid, pid, pid, at, at, 64, n, function, b"\x90" * 64)
            if pid == PID:
                body += record("CODE_MAP", pid, at, 0, [[0, NODE, 13]])
            ips += [(pid, at + 8)] * max(1, round(random.gauss(nr, nr**0.5)))
    random.shuffle(ips)
    trace, table = Trace(body), sorted({ip for _, ip in ips})
    pids = struct.pack(f"<{len(ips)}Q", *(pid for pid, _ in ips))
    trace.add(SAMPLES, samples(len(ips), [
        (1, 2, deltas(2000 + 10**7 * i for i in range(len(ips)))), (2, 1, pids), (3, 1, pids),
        (5, 4, leb(len(table)) + deltas(table) + b"".join(leb(table.index(ip)) for _, ip in ips)), (7, 3, leb(PERIOD))]))
    trace.write(f"{DIR}/{name}")
    return f"{DIR}/{name}"

deployed = f"{DIR}/deployed.tlrs"
tailor("db", "add", deployed, *[shop(f"d.{i}.tlr", i + 1, now - (50 - i) * 60 * SECOND, 600 if i < 4 else 1200, 100 if i < 4 else 3000,
                                     b"\xaa" if i < 4 else b"\xbb") for i in range(8)])
told = shown("db", "changes", f"{deployed}@{at(-60)}..{at(0)}", status=3)["tables"]["changes"]
of_shop = [(c["name"], c["before"] < c["after"]) for c in told if c["name"].startswith("shopd")]
expect(("shopd: price", True) in of_shop and not any(up for name, up in of_shop if name != "shopd: price"),
       f"expected price() of shopd to have grown, got {told}")
expect(any("Seq Scan" in c["name"] and c["before"] < c["after"] for c in told), f"expected the scan to have grown, got {told}")

# A build that is seen an epoch after its program's start is dated by the start.
with sqlite3.connect(deployed) as db:
    db.execute("INSERT INTO meta VALUES(?, ?)", (f"mark {now - (50 - 3) * 60 * SECOND:020}", "s/usr/bin/shopd\nshopd started"))
    db.execute("INSERT INTO meta VALUES(?, ?)", (f"mark {now - (50 - 2) * 60 * SECOND:020}", "s/usr/bin/other\nother started"))
text = " ".join(tailor("db", "changes", f"{deployed}@{at(-60)}..{at(0)}", status=3).stdout.split())
expect(f"{time.strftime('%H:%M:%S', time.gmtime(now / 1e9 - 47 * 60))}, shopd: build bb in place of aa:" in text and "shopd started" not in text and
       "other started" in text, f"expected the build to be dated by its start, got {text}")

# A recorder's own children, one for each epoch, are no marks.
own = f"{DIR}/own.tlrs"
tailor("db", "add", own, *[shop(f"o.{i}.tlr", i + 1, now - (50 - i) * 60 * SECOND, 600, 100, b"\xaa" if i < 4 else b"\xbb", "tailor") for i in range(8)])
text = " ".join(tailor("db", "changes", f"{own}@{at(-60)}..{at(0)}").stdout.split())
expect("the middle of these epochs: 0 lines differ" in text, f"expected no mark of tailor's own program, got {text}")

# ---- of many queries the most expensive are kept apart; texts that come and go leave the cap as it is
def many(nr, first=0):
    return [(f"select c{i} from t{i} where k = %d", [(100 + i, f"Seq Scan on t{i}", f"Filter: (k{i} = %d); cost=0.00..%d rows=1 width=4", 0, 1 + (i < 9))])
            for i in range(first, first + nr)]

crowd = f"{DIR}/crowd.tlrs"
tailor("db", "add", crowd, epoch("crowd.tlr", 1, now - 600 * SECOND, many(1100), 90))
told = {q["name"]: q["samples"] for q in shown("db", "report", crowd, "--view", "queries", "--top", "0")["tables"]["queries"]}
expect(len(told) == 1001 and told["(other queries)"] >= 100, f"expected a thousand queries and others, got {len(told)}, {told.get('(other queries)')}")
tailor("db", "check", crowd)
small = f"{DIR}/small.tlrs"
for n in range(8):
    tailor("db", "add", "--cap", "1", small, epoch(f"small.{n}.tlr", n + 1, now - (60 - n) * 60 * SECOND, many(900, 900 * n), 91))
    size = sum(os.path.getsize(small + end) for end in ("", "-wal") if os.path.exists(small + end))
    expect(size <= 1.01 * 2**20, f"expected at most 1 MiB of {n + 1} epochs of other queries, got {size} bytes")
expect(0 < len(shown("db", "report", small, "--view", "epochs")["tables"]["epochs"]) < 8, "expected some epochs to be gone")
tailor("db", "check", small)

# ---- functions of a language: self and total, whatever lines they are at; not the interpreter's C
def python(name, number, real_ns):
    body = record("HEADER", 0, 2, "test", real_ns, "host", "x86_64", "6.1", 2, "/", [["host"]], "run", 0, number, 80)
    body += record("EVENT", 0, 0, "task-clock", "ns", 1, 1, PERIOD, 0, 0, 0, 0, 0, "cpu", 0)
    body += record("PROCESS", PID, 1, "/usr/bin/python3", "gunicorn")
    for n, function in enumerate(("main", "price_rules", "tax"), 1):
        body += record("LOAD", PID, PID, PID, 0x10000 * n, 0x10000 * n, 64, n, f"py::{function}:/srv/app.py", b"\x90" * 64)
    trace, nr = Trace(body), 200
    ips = [0x30008 if i % 4 else 0x20008 for i in range(nr)]
    trace.add(SAMPLES, samples(nr, [
        (1, 2, deltas(2000 + 10**7 * i for i in range(nr))), (2, 3, leb(PID)), (3, 3, leb(PID)),
        (5, 2, deltas(ips)), (7, 3, leb(PERIOD)), (9, 3, leb(2)), (64 + 8, 2, deltas(ips)),
        (12, 2, deltas(2 if i % 4 else 1 for i in range(nr))),
        (13, 2, deltas(a for i in range(nr) for a in ((0x20010, 0x10010) if i % 4 else (0x10010,))))]))
    trace.write(f"{DIR}/{name}")
    return f"{DIR}/{name}"

called = f"{DIR}/called.tlrs"
tailor("db", "add", called, *[python(f"p.{i}.tlr", i + 1, now - (50 - i) * 60 * SECOND) for i in range(4)])
rows = {c["name"]: c for c in shown("db", "report", called)["tables"]["components"]}
got = {name: (round(c["share"], 2), round(c.get("total", 0), 2)) for name, c in rows.items()}
expect(got == {"tax": (0.75, 0.75), "price_rules": (0.25, 1), "main": (0, 1)}, f"expected each function once, with its total, got {rows}")

# ---- whatever was put in is in order, also as hours; a store of tailor 1.0 is read, and changed into one of this version
for s in store, quiet, built, called:
    tailor("db", "check", s)
aged = f"{DIR}/aged.tlrs"
tailor("db", "add", aged, *[python(f"a.{i}.tlr", i + 1, now - 70 * 3600 * SECOND + i * 60 * SECOND) for i in range(3)])
tailor("db", "check", aged)
old = {c["name"]: (c["weight"], c.get("total")) for c in shown("db", "report", aged)["tables"]["components"]}
expect(old == {"tax": (450 * PERIOD, 0.75), "price_rules": (150 * PERIOD, 1), "main": (0, 1)}, f"expected the totals of an hour, got {old}")
with sqlite3.connect(store) as db:
    before = db.execute("SELECT id FROM component WHERE name = (SELECT id FROM text WHERE s = 'Seq Scan on item')").fetchone()[0]
    for literal in 1919, 374:
        detail = db.execute("INSERT INTO text(hash, s) VALUES(?, ?)", (literal, f"Filter: (price > {literal}); cost=0.00..{literal} rows=1 width=4")).lastrowid
        new = db.execute("INSERT INTO component(level, name, place, detail, query, label) SELECT level, name, place, ?, query, label FROM component "
                         "WHERE id = ?", (detail, before)).lastrowid
        db.execute("UPDATE series SET component = ? WHERE component = ? AND process = 1", (new, before))
    db.execute("PRAGMA user_version = 3")
again = shown("db", "report", store)["tables"]["components"]
expect(sorted((c["name"], c["weight"]) for c in again) == sorted((c["name"], c["weight"]) for c in components),
       f"expected nodes of a store of before in one row, got {again}")
tailor("db", "deploy", store, "v3")
with sqlite3.connect(store) as db:
    expect(db.execute("PRAGMA user_version").fetchone()[0] == 4, "expected a store that is changed to become one of this version")
tailor("db", "check", store)

sys.exit(1 if bad else 0)
