# SPDX-License-Identifier: MIT
# Stores of many kinds, as months of other programs would fill them, made row by row from the README of the store; and what has to be true of
# one after it has kept its cap, by whatever command: it is below it, and close to it, what is left is the newest, and is as it was.
import glob, json, os, random, resource, shutil, sqlite3, subprocess, sys, threading, time
sys.path.insert(0, "tests")
from store_replay import PLACES, SERIES, pack, unpack
from trace_file import HEADER, RECORDS, Trace, record

MINUTE = 60 * 10**9
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CLOSE = 0.85  # of the cap, at least, where single epochs allow it
EPOCH_ROOM = 24 * 4096  # of an epoch that is added: the last pages of tables and indexes, once more in the log; a tenth of the least cap


def header(real_ns=0, epoch=0, recording=0):
    """of a trace that began at real_ns"""
    return (record("HEADER", 0, 2, "test", real_ns, "host", "x86_64", "6.1", 1, "/", [["host"]], "", 0, epoch, recording) +
            record("EVENT", 0, 0, "task-clock", "ns", 1, 1, 100000, 0, 0, 0, 0, 0, "cpu", 0))


def write_trace(path, real_ns, epoch=1, recording=7):
    t = Trace(header(real_ns, epoch, recording))
    t.add_ips([0x1000 + 16 * (i % 5) for i in range(50)], 100000)
    t.write(path)


class Made:
    """A store that is being made.  The tailor command creates it, with the epoch of one trace, so its tables are those of that version."""
    def __init__(self, tailor, path, seed=1):
        self.path, self.rng, self.cache, self.number = path, random.Random(seed), {}, 0
        write_trace(f"{path}.tlr", time.time_ns() - 90000 * MINUTE // 60)
        subprocess.run([tailor, "db", "add", path, f"{path}.tlr"], check=True)
        os.remove(f"{path}.tlr")
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA synchronous = OFF")
        for table in "epoch", "block", "reason", "loss", "folded", "place", "series", "function", "process":
            self.db.execute(f"DELETE FROM {table}")
        self.event = self.db.execute("SELECT id FROM event").fetchone()[0]

    def word(self, letters):
        return "".join(self.rng.choices(LETTERS, k=letters))

    def row(self, table, **values):
        key = (table, *values.values())
        if key not in self.cache:
            self.cache[key] = self.db.execute(f"INSERT INTO {table}({', '.join(values)}) VALUES({', '.join('?' * len(values))})",
                                              list(values.values())).lastrowid
        return self.cache[key]

    def text(self, s):
        h = 14695981039346656037
        for byte in s.encode():
            h = (h ^ byte) * 1099511628211 & 2**64 - 1
        return self.row("text", hash=h - 2**64 if h >> 63 else h, s=s)

    def series(self, process="host", component=None, query=None):
        p = self.row("process", name=self.text(process), executable=self.text(f"/usr/bin/{process}"), service=0)
        c = self.row("component", level=self.text("operator"), name=self.text(component), place=0, detail=0,
                     query=self.row("query", text=self.text(query)) if query else 0, label=0) if component else 0
        return self.row("series", process=p, component=c, event=self.event)

    def place(self, series, function, jit=1):
        return self.row("place", series=series, function=self.row("function", name=self.text(function), image=0, jit=jit))

    def epoch(self, begin_ns, rows, tier=0, length_ns=MINUTE, host="host"):
        """rows: {series: [(place, samples), ...]}"""
        self.number += 1
        samples = sum(n for places in rows.values() for _, n in places)
        epoch = self.db.execute("INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, lost, cpus, parts) "
                                "VALUES(1, ?, ?, ?, ?, ?, ?, ?, 0, 2, ?)", (self.number, tier, begin_ns, begin_ns + length_ns,
                                self.text(host), samples, samples, (1, 6, 144)[tier])).lastrowid
        for part, of in ((SERIES, [(s, sum(n for _, n in p), 1000 * sum(n for _, n in p)) for s, p in rows.items()]),
                         (PLACES, [(p, n, 80) for places in rows.values() for p, n in places])):
            self.db.execute("INSERT INTO block VALUES(?, ?, ?, ?, ?, ?)", (epoch, part, *pack(part, of)))

    def close(self):
        self.db.commit()
        self.db.execute("VACUUM")
        self.db.close()


def jit_epoch(m, begin_ns, names, letters=40, **options):
    s = m.series()
    m.epoch(begin_ns, {s: [(m.place(s, m.word(letters)), 1 + m.rng.randrange(9)) for _ in range(names)]}, **options)


def make_jit(m, now):
    for i in range(60):
        jit_epoch(m, now - (60 - i) * MINUTE, 1500)


def make_programs(m, now):
    for i in range(150):
        rows = {}
        for _ in range(300):
            s = m.series(m.word(30))
            rows[s] = [(m.place(s, f"function_{m.rng.randrange(300)}", 0), 3) for _ in range(3)]
        m.epoch(now - (150 - i) * MINUTE, rows)


def make_many_epochs(m, now):
    for i in range(500):
        s = m.series(f"program_{i % 7}", f"operator_{i % 11}")
        m.epoch(now - (500 - i) * MINUTE, {s: [(m.place(s, m.word(50)), 2) for _ in range(160)]})


def make_giant(m, now):
    for i in range(40):
        jit_epoch(m, now - (40 - i) * MINUTE, 60000 if i == 20 else 900)


def make_giant_last(m, now):
    for i in range(40):
        jit_epoch(m, now - (40 - i) * MINUTE, 60000 if i == 39 else 900)


def make_queries(m, now):
    for i in range(250):
        rows = {}
        for q in range(60):
            query = f"select {m.word(400)} from {m.word(9)}"
            for o in range(4):
                rows[m.series("server", f"hash join {o}", query)] = [(m.place(m.series("server", f"hash join {o}", query), f"f_{o}"), 5)]
        m.epoch(now - (250 - i) * MINUTE, rows)


def make_same_names(m, now):
    s = m.series()
    places = [m.place(s, f"{m.word(20)}_{i}", 0) for i in range(8000)]
    for i in range(380):
        m.epoch(now - (380 - i) * MINUTE, {s: [(p, 1 + m.rng.randrange(10**6)) for p in places if m.rng.random() < 0.9]})


def make_tiers(m, now):
    hour, day = 60 * MINUTE, 1440 * MINUTE
    today = now // day * day
    for i in range(30):
        jit_epoch(m, today - (60 - i) * day, 1500, tier=2, length_ns=day)
    for i in range(60):
        jit_epoch(m, today - 5 * day + i * hour, 400, tier=1, length_ns=hour)
    for i in range(60):
        jit_epoch(m, now - (60 - i) * MINUTE, 300)


def make_long_names(m, now):
    for i in range(75):
        jit_epoch(m, now - (75 - i) * MINUTE, 40, 3500)


def make_hosts(m, now):
    """two machines, whose epochs have the same times, some of which lie in the future, and all names of the one before"""
    before = []
    for i in range(200):
        s = m.series(f"program_{i % 2}", f"operator_{i % 5}")
        of = [(m.place(s, m.word(60)), 4) for _ in range(400)]
        m.epoch(now - (190 - i // 2 * 2) * MINUTE, {s: of + [(m.place(s, m.word(8)), 1)] * 2}, host=f"host_{i % 2}")


KINDS = {"a program with a JIT": make_jit, "many programs": make_programs, "500 epochs": make_many_epochs, "a giant epoch": make_giant,
         "a giant epoch, the newest": make_giant_last, "many queries": make_queries, "the same functions": make_same_names,
         "hours and days": make_tiers, "long names": make_long_names, "two hosts": make_hosts}


def read_epochs(path):
    """[(begin, id, {(process, component, query): (samples, weight)}, {(process, function): samples} or None, bytes of its own)], by begin"""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    text = dict(db.execute("SELECT id, s FROM text"))
    process = {i: text[e] for i, e in db.execute("SELECT id, executable FROM process") if e in text}
    query = dict(db.execute("SELECT id, text FROM query"))
    component = {i: (text[n], text[query[q]] if q else "") for i, n, q in db.execute("SELECT id, name, query FROM component") if n in text}
    series = {i: (process.get(p, ""), *component.get(c, ("", ""))) for i, p, c in db.execute("SELECT id, process, component FROM series")}
    function = {i: text.get(n, "") for i, n in db.execute("SELECT id, name FROM function")}
    place = {i: (series[s][0], function.get(f, "")) for i, s, f in db.execute("SELECT id, series, function FROM place")}
    seen, epochs = set(), []
    for epoch, begin in list(db.execute("SELECT id, begin_ns FROM epoch ORDER BY begin_ns DESC, id DESC")):
        sums, functions, size = {}, None, 0
        for part, rows, plain, data in db.execute("SELECT part, rows, bytes, data FROM block WHERE epoch = ?", (epoch,)):
            size += len(data)
            if part == SERIES:
                for s, n, w in unpack(SERIES, rows, plain, data):
                    sums[series[s]] = (n, w)
            else:
                functions = {}
                for p, n, _ in unpack(PLACES, rows, plain, data):
                    functions[place[p]] = functions.get(place[p], 0) + n
        own = {key for key in (*sums, *(functions or ())) if key not in seen}
        seen |= own
        epochs.append((begin, epoch, sums, functions, size + sum(sum(map(len, key[-2:])) + 120 for key in own)))
    db.close()
    return epochs[::-1]


def unused_names(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    used = {SERIES: set(), PLACES: set()}
    for part, rows, plain, data in db.execute("SELECT part, rows, bytes, data FROM block"):
        used[part].update(row[0] for row in unpack(part, rows, plain, data))
    of_place = {s for i, s in db.execute("SELECT id, series FROM place") if i in used[PLACES]}
    found = {"place": sum(i not in used[PLACES] for i, in db.execute("SELECT id FROM place")),
             "series": sum(i not in used[SERIES] and i not in of_place for i, in db.execute("SELECT id FROM series")),
             "function": db.execute("SELECT count(*) FROM function WHERE id NOT IN (SELECT function FROM place)").fetchone()[0],
             "process": db.execute("SELECT count(*) FROM process WHERE id NOT IN (SELECT process FROM series)").fetchone()[0],
             "component": db.execute("SELECT count(*) FROM component WHERE id NOT IN (SELECT component FROM series)").fetchone()[0],
             "query": db.execute("SELECT count(*) FROM query WHERE id NOT IN (SELECT query FROM component)").fetchone()[0]}
    db.close()
    return {table: nr for table, nr in found.items() if nr}


def taken(path):
    return sum(os.path.getsize(p) for p in (path, f"{path}-wal") if os.path.exists(p))


class Judge:
    def __init__(self, build, folder):
        self.tailor, self.folder, self.bad, self.figures = f"{build}/tailor", folder, 0, []
        write_trace(f"{folder}/one.tlr", time.time_ns())

    def fail(self, sentence):
        self.bad = 1
        print(sentence, flush=True)

    def make(self, kind):
        path = f"{self.folder}/whole.tlrs"
        for end in "", "-wal", "-shm", "-lock":
            if os.path.exists(path + end):
                os.remove(path + end)
        m = Made(self.tailor, path)
        KINDS[kind](m, time.time_ns() // MINUTE * MINUTE)
        m.close()
        return path

    def run(self, how, store):
        command = {"gc": ["db", "gc", store], "add": ["db", "add", store, f"{self.folder}/one.tlr"],
                   "watch": ["watch", "--epochs", "60s", "--cost", "20%", "--store", store, "--",
                             "/bin/sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"]}[how]
        r = subprocess.run([self.tailor, *command], capture_output=True, text=True)
        if how == "watch" and "the trace stays, and the next `tailor watch` or `tailor db add` takes it" in " ".join(r.stderr.split()):
            return subprocess.run([self.tailor, "db", "add", store, *glob.glob(f"{store}.epochs/*.tlr")], capture_output=True, text=True)
        return r

    def try_one(self, kind, whole, before, part, how):
        """the store's cap is a part of what it takes"""
        name, store = f"{kind}, cap at {part:.0%} by {how}", f"{self.folder}/try.tlrs"
        shutil.copyfile(whole, store)
        cap = max(int(part * os.path.getsize(whole)), 1 << 20)  # the least that the command takes
        db = sqlite3.connect(store)
        db.execute("INSERT OR REPLACE INTO meta VALUES('cap', ?)", (cap,))
        db.commit()
        db.close()
        foreseen = self.run_json("db", "gc", "--dry-run", store) if how == "gc" else None
        r = self.run(how, store)
        if r.returncode or "fail" in r.stderr or "error" in r.stderr:
            self.fail(f"{name}: expected exit 0 at the first try, got {r.returncode}: {r.stderr}")
        self.judge(name, store, cap, before, how, foreseen)
        shutil.rmtree(f"{store}.epochs", ignore_errors=True)
        for end in "", "-wal", "-shm", "-lock":
            if os.path.exists(store + end):
                os.remove(store + end)

    def run_json(self, *command):
        return subprocess.run([self.tailor, *command], capture_output=True, text=True).stdout

    def judge(self, name, store, cap, before, how, foreseen):
        after, known = read_epochs(store), {e[1]: e for e in before}
        old = [e for e in after if e[1] in known and e[0] == known[e[1]][0]]
        added = len(after) - len(old)
        least, most = {"gc": (0, 0), "add": (1, 1), "watch": (1, 2)}[how]  # the end of a watch may come behind a cut
        if not least <= added <= most:
            self.fail(f"{name}: expected {least} to {most} new epochs, got {added}")
        ids = {e[1] for e in old}
        went, stripped = [e for e in before if e[1] not in ids], [e for e in old if e[3] is None]
        if went and old and max(e[:2] for e in went) > min(e[:2] for e in old):
            self.fail(f"{name}: expected the newest epochs to stay, got {[e[1] for e in old]}")
        has = [e for e in old if e[3] is not None]
        if stripped and has and max(e[:2] for e in stripped) > min(e[:2] for e in has):
            self.fail(f"{name}: expected the newest epochs to keep their functions, got {[e[1] for e in has]}")
        for e in old:
            if e[2] != known[e[1]][2]:
                self.fail(f"{name}: expected the sums of epoch {e[1]} unchanged, got {len(e[2])} of {len(known[e[1]][2])}")
            if e[3] is not None and e[3] != known[e[1]][3]:
                self.fail(f"{name}: expected the functions of epoch {e[1]} unchanged, got {len(e[3])} of {len(known[e[1]][3])}")
        size = taken(store)
        last = max((known[e[1]] for e in (went or stripped)), default=None)  # who went or was stripped last has what was one too many
        if size > cap and len(after) > 1:
            self.fail(f"{name}: expected at most {cap} bytes, got {size}, {len(after)} epochs")
        room = EPOCH_ROOM if added else 0
        if last and size + 1.3 * last[4] + room < CLOSE * cap:
            self.fail(f"{name}: expected {CLOSE:.0%} of {cap} bytes, got {size / cap:.0%}: {len(old)} of {len(before)} epochs, {len(has)} with "
                      f"functions; the last to go had {last[4]}")
        if unused_names(store):
            self.fail(f"{name}: expected no names without a use, got {unused_names(store)}")
        said = json.loads(self.run_json("db", "report", store, "--view", "epochs", "--json"))
        parts = sum(1 for e in went)
        if bool(said["went_epochs"]) != bool(parts) or said["without_functions"] != len(stripped):
            self.fail(f"{name}: expected {parts} epochs gone and {len(stripped)} without functions, the report says {said['went_epochs']} and "
                      f"{said['without_functions']}")
        r = subprocess.run([self.tailor, "db", "check", store], capture_output=True, text=True)
        if r.returncode:
            self.fail(f"{name}: tailor db check: {r.stdout}{r.stderr}")
        self.figures.append((name, size / cap, len(old), len(has), len(before), foreseen))
        print(f"{name}: {size / cap:.0%} of the cap, {len(old)} of {len(before)} epochs, {len(has)} with functions", flush=True)

    def matrix(self, kinds, parts, ways):
        for kind in kinds:
            whole = self.make(kind)
            before = read_epochs(whole)
            for part in parts:
                for how in ways:
                    self.try_one(kind, whole, before, part, how)

    # ------------------------------------------------------------------------------------------------------------------ a month

    def write_jit_trace(self, path, real_ns, number, names, rng):
        """an epoch of a program with a JIT: all of its code is new"""
        t, pid, body, ips = Trace(header(real_ns, number, 7)), 1000, record("PROCESS", 1000, 1, "/usr/bin/node", "node"), []
        for i in range(names):
            at = 0x100000 + 64 * i
            body += record("LOAD", pid, pid, pid, at, at, 64, i + 1, "".join(rng.choices(LETTERS, k=40)), b"\x90" * 63 + b"\xc3")
            ips += [at + 8] * (1 + i % 3)
        t.add(RECORDS, body)
        t.add_ips(ips, 100000)
        t.write(path)

    def month(self, epochs, names, cap_mib):
        """a month's epochs, each added when the one before is: the bytes on the disk are looked at all the while"""
        store, trace, rng = f"{self.folder}/month.tlrs", f"{self.folder}/month.tlr", random.Random(3)
        now, cap, most, is_over = time.time_ns(), cap_mib << 20, 0, threading.Event()
        def look():
            nonlocal most
            while not is_over.wait(0.0005):
                try:
                    most = max(most, taken(store))
                except OSError:
                    pass
        looking = threading.Thread(target=look)
        looking.start()
        for i in range(epochs):
            self.write_jit_trace(trace, now - (epochs - i) * (30 * 1440 * MINUTE // epochs), i + 1, names, rng)
            r = subprocess.run([self.tailor, "db", "add", "--cap", str(cap_mib), store, trace], capture_output=True, text=True)
            if r.returncode:
                self.fail(f"a month: epoch {i}: {r.stderr}")
                break
        is_over.set()
        looking.join()
        if most > cap:
            self.fail(f"a month: expected at most {cap} bytes at every moment, log included, got {most}")
        if taken(store) + 2 * 200 * names < CLOSE * cap:  # one epoch that went, and room for the next
            self.fail(f"a month: expected {CLOSE:.0%} of {cap} bytes in the end, got {taken(store)}")
        if unused_names(store):
            self.fail(f"a month: expected no names without a use, got {unused_names(store)}")
        page = json.loads(self.run_json("db", "report", store, "--view", "epochs", "--json"))
        kept = sum(e["parts"] for e in page["tables"]["epochs"])
        if kept + page["went_epochs"] != epochs or page["epochs"] == page["without_functions"]:
            self.fail(f"a month: expected {epochs} epochs, some with functions, got {kept}, {page['went_epochs']} gone")
        # Functions of a language go with the others of an epoch; all of their samples are still there.
        db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        components = db.execute("SELECT count(*) FROM component").fetchone()[0]
        db.close()
        if components > (page["epochs"] - page["without_functions"]) * names:
            self.fail(f"a month: expected functions of a language of the epochs that have functions alone, got {components}")
        whole = json.loads(self.run_json("db", "report", store, "--view", "components", "--top", "0", "--json"))
        weight = sum(row["weight"] for row in whole["tables"]["components"])
        if abs(weight - whole["weight"]) > 1e-6 * whole["weight"]:
            self.fail(f"a month: expected components to add up to {whole['weight']}, got {weight}")
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([self.tailor, "db", "report", store], stdout=subprocess.DEVNULL)
        took, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if processor > 5:
            self.fail(f"a month: expected a report in less than 5 s of a processor, got {processor:.2f}")
        print(f"FIGURE a month of {epochs} epochs with {names} new names each: at most {most / cap:.1%} of {cap_mib} MiB, {taken(store) / cap:.1%} "
              f"in the end, {page['epochs'] - page['without_functions']} of {page['epochs']} epochs with functions, a report in {took:.2f} s, "
              f"{processor:.2f} of a processor", flush=True)
