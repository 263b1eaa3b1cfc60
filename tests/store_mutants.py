# SPDX-License-Identifier: MIT
"""Stores that others made: store_mutants.py TAILOR FOLDER MUTANTS CPU_SECONDS

Each is given to `tailor db report`, `check`, `add`, `gc` and `diff`.  First come stores with one planted thing, then so many mutants, in
their pages and by SQL.  A command ends by itself, with exit 0, 1 or 3, in so much processor time and 512 MiB, or says that its budget is
exceeded.  A store with another schema is refused, and keeps what it has.
"""
import os, random, resource, shutil, sqlite3, subprocess, sys, time
sys.path[:0] = ["tests"]
from store_replay import pack
from trace_file import SAMPLES, Trace, compress, crc32c, deltas, leb, record, samples

TAILOR, DIR, MUTANTS, CPU_S = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
PID, MEMORY = 1000, 512 << 20
BUDGET = "than a file of its size should"
SCHEMA = "its schema is not that of a store of tailor"
BASE, STORE, TRACE = f"{DIR}/base.tlrs", f"{DIR}/x.tlrs", f"{DIR}/t.tlr"
os.environ["LC_ALL"] = "C"
bad, slowest, largest, nr_runs, refused = 0, (0, ""), (0, ""), 0, 0


def wrong(text):
    global bad
    bad = 1
    print(text)


def epoch(path, number, real_ns):
    body = record("HEADER", 0, 2, "test", real_ns, "host", "x86_64", "6.1", 2, "/", [["host"]], "run", 0, number, 77)
    body += record("EVENT", 0, 0, "task-clock", "ns", 1, 1, 10**6, 0, 0, 0, 0, 0, "cpu", 0)
    body += record("PROCESS", PID, 1, "/usr/bin/host", "host") + record("LEVEL", PID, 1, 0, "operator", [])
    for n in range(1, 9):
        if n < 4:
            body += record("COMPONENT", PID, 1, 0, n, f"join {n}", "a = b")
        body += record("LOAD", PID, PID, PID, 0x10000 * n, 0x10000 * n, 64, n, f"f_{n}", b"\x90" * 64)
        body += record("CODE_MAP", PID, 0x10000 * n, 0, [[0, 1, 1 + n % 3]])
    trace, ips = Trace(body), [0x10000 * n + 8 for n in range(1, 9) for _ in range(20 * n)]
    table = sorted(set(ips))
    trace.add(SAMPLES, samples(len(ips), [
        (1, 2, deltas(2000 + 10**7 * i for i in range(len(ips)))), (2, 3, leb(PID)), (3, 3, leb(PID)),
        (5, 4, leb(len(table)) + deltas(table) + b"".join(leb(table.index(ip)) for ip in ips)), (7, 3, leb(10**6))]))
    trace.write(path)


def fresh():
    for name in os.listdir(DIR):
        if name.startswith("x.tlrs"):
            os.unlink(f"{DIR}/{name}")
    shutil.copy(BASE, STORE)
    os.chmod(STORE, 0o600)


def run(what, *words):
    """exit status, messages"""
    global slowest, largest, nr_runs, refused
    with open(f"{DIR}/out", "wb") as out:
        p = subprocess.Popen([TAILOR, *words], stdout=out, stderr=subprocess.PIPE,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
        said = p.stderr.read().decode(errors="replace")
        _, status, used = os.wait4(p.pid, 0)
    status, cpu, memory = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss << 10
    command, nr_runs, refused = f"{what}: tailor {' '.join(words)}", nr_runs + 1, refused + (SCHEMA in said)
    slowest, largest = max(slowest, (cpu, command)), max(largest, (memory, command))
    if status not in (0, 1, 3):
        wrong(f"{command}: expected exit 0, 1 or 3, got {status}: {said[-500:]}")
    if status == 1 and not said.startswith("tailor "):
        wrong(f"{command}: expected a sentence, got: {said[-500:]}")
    if (cpu > CPU_S or memory > MEMORY) and BUDGET not in said:
        wrong(f"{command}: expected at most {CPU_S} s and {MEMORY >> 20} MiB, or the budget's sentence, got {cpu:.1f} s and "
              f"{memory >> 20} MiB, exit {status}: {said[-500:]}")
    return status, said


COMMANDS = [["db", "report", STORE], ["db", "check", STORE], ["db", "diff", STORE, BASE], ["db", "report", "--view", "functions", STORE],
            ["db", "report", "--view", "epochs", "--json", STORE], ["db", "timeline", STORE], ["db", "add", STORE, TRACE],
            ["db", "gc", STORE], ["db", "gc", "--cap", "1", STORE], ["db", "changes", "--from", "1970-01-02", STORE]]


def some(commands, nr):
    """In the short form a few of them, each time others."""
    turn[0] += 1
    return commands if MUTANTS >= 100 else [commands[(turn[0] * nr + i) % len(commands)] for i in range(nr)]


turn = [0]


def sql(*statements):
    """None: SQLite itself refuses them."""
    db = sqlite3.connect(STORE)
    db.isolation_level = None
    left = [200]
    db.set_progress_handler(lambda: (left.__setitem__(0, left[0] - 1), left[0] < 0)[1], 100000)
    try:
        for s in statements:
            db.execute(*s) if isinstance(s, tuple) else db.execute(s)
    except (sqlite3.Error, OverflowError):
        pass
    db.close()


def put_block(epoch, part, rows, plain):
    data = compress(plain)
    return ("INSERT OR REPLACE INTO block VALUES(?, ?, ?, ?, ?, ?)", (epoch, part, rows, len(plain), crc32c(data), data))


ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT x"
NEW_EPOCHS = ("INSERT INTO epoch SELECT 1000 + x, 9999 + x, 0, 0, (SELECT max(begin_ns) FROM epoch) + x, (SELECT max(end_ns) FROM epoch) + x, "
              "host, 1, 1, 0, 1, 1 FROM epoch, (WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < ?) SELECT x FROM t) "
              "WHERE id = (SELECT min(id) FROM epoch)")
SCHEMAS = {
    "a view in place of places": ["DROP TABLE place", f"CREATE VIEW place(id, series, function) AS {ENDLESS}, 1, 1 FROM t"],
    "a view in place of epochs": ["ALTER TABLE epoch RENAME TO e", "CREATE VIEW epoch AS SELECT * FROM e, e AS f, e AS g"],
    "a view of another name": [f"CREATE VIEW more AS {ENDLESS} FROM t"],
    "a trigger that deletes texts": ["CREATE TRIGGER a AFTER INSERT ON block BEGIN DELETE FROM text; END"],
    "a trigger that inserts": [f"CREATE TRIGGER b BEFORE INSERT ON text BEGIN INSERT INTO folded {ENDLESS}, 1 FROM t; END"],
    "a trigger on what is deleted": ["CREATE TRIGGER c AFTER DELETE ON epoch BEGIN DELETE FROM block; END"],
    "a column that is computed": ["ALTER TABLE epoch ADD COLUMN x INT AS (length(hex(zeroblob(400000000))))"],
    "a table whose column is computed": ["DROP TABLE loss", "CREATE TABLE loss(epoch INT NOT NULL, reason INT NOT NULL, count INT AS "
                                         "(length(hex(zeroblob(400000000)))), PRIMARY KEY(epoch, reason))"],
    "a check": ["CREATE TABLE other(a INT CHECK(length(hex(zeroblob(a))) > 3))"],
    "an index of an expression": ["CREATE INDEX i ON text(length(hex(zeroblob(100000))))"],
    "an index of some rows": ["CREATE INDEX i ON text(s) WHERE length(s) > 3"],
    "a key that replaces": ["DROP TABLE folded", "CREATE TABLE folded(recording INT NOT NULL, number INT NOT NULL, PRIMARY KEY(recording, "
                            "number) ON CONFLICT REPLACE) WITHOUT ROWID"],
    "no texts": ["DROP TABLE text"],
}
ROWS = {
    "a bomb of series": [(NEW_EPOCHS, (60,))] + [put_block(1000 + i, 0, 1 << 24, b"\1" * (3 << 24)) for i in range(1, 2)]
        + ["INSERT INTO block SELECT id, 0, b.rows, b.bytes, b.crc, b.data FROM epoch, block b WHERE id > 1001 AND b.epoch = 1001"],
    "a bomb of places": [(NEW_EPOCHS, (60,)), put_block(1001, 1, 3 << 20, b"\0" * (9 << 20)), put_block(1001, 0, 1, b"\1\1\1"),
        "INSERT INTO block SELECT id, part, b.rows, b.bytes, b.crc, b.data FROM epoch, block b WHERE id > 1001 AND b.epoch = 1001"],
    "many epochs of no rows": [(NEW_EPOCHS, (100000,))],
    "epochs times functions": [(NEW_EPOCHS, (20000,)), put_block(1001, 1, 1, b"\1\1\1"),
        "INSERT OR IGNORE INTO block SELECT id, part, b.rows, b.bytes, b.crc, b.data FROM epoch, block b WHERE b.epoch = (SELECT min(epoch) FROM block) AND id >= 1000"],
    "large numbers": ["INSERT INTO place VALUES(134217727, 99, 1)", "INSERT INTO series VALUES(134217727, 9, 9, 9)"],
    "a long text": ["UPDATE text SET s = hex(zeroblob(20000000)) WHERE id = (SELECT name FROM component)"],
    "long texts": ["UPDATE text SET s = hex(zeroblob(500000))"],
    "a name that is larger than any": ["UPDATE text SET s = hex(zeroblob(40000000))"],
    "dates before 1970": ["UPDATE epoch SET begin_ns = -3600000000001 * id, end_ns = -5"],
    "the last date": ["UPDATE epoch SET begin_ns = 9223372036854775807 - id, end_ns = -9223372036854775808"],
    "dates that are no numbers": ["UPDATE epoch SET begin_ns = -1e300, end_ns = 'x'", "UPDATE epoch SET host = 'y' WHERE id = 2"],
}
PLAIN = {
    "columns and tables of a newer version": ["ALTER TABLE epoch ADD COLUMN went INT", "ALTER TABLE text ADD COLUMN more REAL NOT NULL DEFAULT 0",
        "CREATE TABLE newer(id INTEGER PRIMARY KEY, a INT NOT NULL, b TEXT, UNIQUE(a, b))", "CREATE INDEX newer_b ON newer(b)", "ANALYZE"],
}


def plant():
    for name, statements in SCHEMAS.items():
        fresh()
        sql(*statements)
        before = open(STORE, "rb").read()
        for command in some([["db", "report", STORE], ["db", "add", STORE, TRACE], ["db", "check", STORE], ["db", "gc", STORE],
                             ["db", "diff", BASE, STORE], ["db", "sql", STORE, "SELECT count(*) FROM epoch"]], 2):
            status, said = run(name, *command)
            if status != 1 or SCHEMA not in said:
                wrong(f"{name}: tailor {' '.join(command)}: expected '{SCHEMA}', got exit {status}: {said}")
        if open(STORE, "rb").read() != before:
            wrong(f"{name}: expected the file as it was")
    for name, statements in ROWS.items():
        for command in some(COMMANDS, 3):
            fresh()
            sql(*statements)
            run(name, *command)
    for name, statements in PLAIN.items():
        fresh()
        sql(*statements)
        for command in COMMANDS[:2] + COMMANDS[6:8]:
            status, said = run(name, *command)
            if status:
                wrong(f"{name}: tailor {' '.join(command)}: expected exit 0, got {status}: {said}")


def plant_beside():
    """Files beside a store: a link at any other file, a FIFO, a hard link; another user's, where this one may give files away."""
    makes = {"a link": lambda path: os.symlink(f"{DIR}/other", path), "a FIFO": os.mkfifo, "a hard link": lambda path: os.link(f"{DIR}/other", path)}
    if os.geteuid() == 0:
        makes["another user's"] = lambda path: (open(path, "w").close(), os.chown(path, 65534, 65534))
    for suffix in "-lock", "-wal", "-shm", "-journal":
        for name, make in makes.items():
            for command in some([COMMANDS[0], COMMANDS[7]], 1):
                fresh()
                open(f"{DIR}/other", "w").write("other")
                make(STORE + suffix)
                status, said = run(f"{name} at {suffix}", *command)
                if status != 1 or f"{suffix} is not used, since" not in said or open(f"{DIR}/other").read() != "other":
                    wrong(f"{name} at {suffix}: tailor {' '.join(command)}: expected that it is not used, got exit {status}: {said}")


def plant_folders():
    """STORE.epochs of another user, of others' rights, or elsewhere; a store that is another user's."""
    watch = ["watch", "--store", STORE, "-d", "1", "--", "true"]
    makes = {"a link": lambda path: os.symlink(DIR, path), "a file": lambda path: open(path, "w").close(),
             "of all": lambda path: (os.mkdir(path), os.chmod(path, 0o777))}
    if os.geteuid() == 0:
        makes["another user's"] = lambda path: (os.mkdir(path), os.chown(path, 65534, 65534))
    for name, make in makes.items():
        fresh()
        make(STORE + ".epochs")
        for command in some([watch, ["db", "trace", STORE, "-o", f"{DIR}/made.tlr"]], 2):
            status, said = run(f"a folder that is {name}", *command)
            if status != 1 or "is not used, since" not in said:
                wrong(f"a folder that is {name}: tailor {' '.join(command)}: expected that it is not used, got exit {status}: {said}")
        os.rmdir(STORE + ".epochs") if os.path.isdir(STORE + ".epochs") and not os.path.islink(STORE + ".epochs") else os.unlink(STORE + ".epochs")
    if os.geteuid() == 0:
        fresh()
        os.chown(STORE, 65534, 65534)
        status, said = run("another user's store", *watch)
        if status != 1 or "is not used, since it belongs to another user" not in said:
            wrong(f"another user's store: expected that watch does not use it, got exit {status}: {said}")
        os.rmdir(STORE + ".epochs")


NUMBERS = [0, 1, -1, 2**63 - 1, -2**63, 2**62, 2**27, 2**27 - 1, 2**31, 16777216, 4096, -3600 * 10**9 - 1, 10**18]
TABLES = {"epoch": "id recording number tier begin_ns end_ns host samples effective lost cpus parts", "text": "id hash s",
          "process": "id name executable service", "event": "id name unit", "query": "id text", "function": "id name image jit",
          "component": "id level name place detail query label", "series": "id process component event", "place": "id series function",
          "block": "epoch part rows bytes crc data", "reason": "epoch event reason samples weight", "loss": "epoch reason count",
          "meta": "key value"}


def mutate_rows(rng):
    for _ in range(rng.randrange(1, 4)):
        kind = rng.randrange(12)
        table = rng.choice(list(TABLES))
        column, value = rng.choice(TABLES[table].split()), rng.choice(NUMBERS + ["x", b"\0", 1e300, -1e300, None, "\x1b]0;x\x07"])
        if kind < 6:
            some = "" if rng.randrange(2) else f" WHERE rowid % 3 = {rng.randrange(3)}" if table not in ("meta", "reason", "loss") else ""
            sql((f"UPDATE OR IGNORE {table} SET {column} = ?{some}", (value,)))
        elif kind == 6:
            sql(f"DELETE FROM {table} WHERE random() % 2")
        elif kind < 10:
            rows = rng.choice([1, 10, 1000, 100000, 1 << 22])
            fill = bytes([rng.choice([0, 1, 127, 128])]) if rows > 1000 else rng.randbytes(1)
            sql(put_block(rng.choice(EPOCHS), rng.randrange(2), rng.choice([rows, rows + 1]), fill * 3 * rows))
        elif kind == 10:
            sql(*rng.choice(list(SCHEMAS.values())))
        else:
            sql(*rng.choice(list(PLAIN.values())), (NEW_EPOCHS, (rng.choice([3, 300, 30000]),)))


def mutate_pages(rng):
    data = bytearray(open(STORE, "rb").read())
    for _ in range(rng.randrange(1, 8)):
        page = rng.randrange(len(data) // 4096) * 4096
        kind = rng.randrange(5)
        if kind == 0:
            data[page + rng.randrange(4096)] = rng.randrange(256)
        elif kind == 1:
            data[page + rng.randrange(16)] = rng.randrange(256)
        elif kind == 2:
            other = rng.randrange(len(data) // 4096) * 4096
            data[page:page + 4096] = data[other:other + 4096]
        elif kind == 3: # a child of a page, or a cell's place
            at = page + 4 * rng.randrange(1024)
            data[at:at + 4] = rng.randrange(len(data) // 4096 + 2).to_bytes(4, "big")
        elif rng.randrange(8) == 0 and page:
            del data[page:]
    open(STORE, "wb").write(data)


def mutate():
    for n in range(MUTANTS):
        rng = random.Random(n)
        for command in some(COMMANDS, 2):
            rng = random.Random(n)
            fresh()
            if n % 3:
                mutate_rows(rng)
            if n % 3 != 1:
                mutate_pages(rng)
            run(f"mutant {n}", *command)


now = int(time.time())
for i in range(1, 7):
    epoch(TRACE, i, (now - 86400 * 20 * (7 - i)) * 10**9)
    if i < 6:
        subprocess.run([TAILOR, "db", "add", BASE, TRACE], check=True)
EPOCHS = [e for e, in sqlite3.connect(BASE).execute("SELECT id FROM epoch ORDER BY id")]
plant()
plant_beside()
plant_folders()
mutate()
print(f"FIGURE mutants of stores: {MUTANTS}, beside {len(SCHEMAS) + len(ROWS)} that were planted; {nr_runs} runs, {refused} refused by their schema; at most "
      f"{slowest[0]:.1f} s of processor time ({slowest[1].replace(DIR, '')}), {largest[0] >> 20} MiB ({largest[1].replace(DIR, '')})")
sys.exit(bad)
