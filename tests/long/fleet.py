# SPDX-License-Identifier: MIT
"""fleet.py BUILD DIR: see fleet-in-clickhouse.sh.  CHDB_PYTHON: a Python that has chdb, for the servers."""
import collections, concurrent.futures, glob, json, os, random, shutil, socket, sqlite3, subprocess, sys, threading, time, urllib.error, urllib.request

BUILD, DIR = sys.argv[1:]
TAILOR = f"{BUILD}/tailor"
HOSTS, EPOCHS, SECOND = int(os.environ.get("HOSTS", 300)), 20, 10**9
CLONES = int(os.environ.get("CLONES", 1)) # names of each host, for the window of a day: the servers copy its rows
DAY = (int(time.time()) // 86400 - 2) * 86400 # all of its hours are complete
SERVICES = "web.service", "batch.service"
random.seed(11)
bad = []

def expect(holds, sentence):
    if not holds:
        bad.append(sentence)
        print(sentence)

def tailor(*arguments, status=0):
    p = subprocess.run([TAILOR, *arguments], capture_output=True, text=True)
    expect(p.returncode == status, f"tailor {' '.join(arguments)}: exit status {p.returncode}: {p.stdout[-300:]}{p.stderr[-300:]}")
    return p.stdout

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]

class Server:
    """Debian's."""
    def __init__(self, name):
        self.folder, self.port, tcp = f"{DIR}/{name}", free_port(), free_port()
        os.makedirs(self.folder)
        self.configure(tcp)
        self.start()

    def configure(self, tcp):
        with open(f"{self.folder}/config.xml", "w") as f:
            f.write(f"""<yandex><logger><level>warning</level><log>{self.folder}/log</log><errorlog>{self.folder}/errors</errorlog></logger>
                <http_port>{self.port}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
                <path>{self.folder}/data/</path><tmp_path>{self.folder}/tmp/</tmp_path><users_config>users.xml</users_config>
                <default_profile>default</default_profile><mark_cache_size>16777216</mark_cache_size>
                <query_log><database>system</database><table>query_log</table><flush_interval_milliseconds>100</flush_interval_milliseconds></query_log>
                </yandex>""")
        with open(f"{self.folder}/users.xml", "w") as f:
            f.write("""<yandex><profiles><default><log_queries>1</log_queries></default></profiles><users><default><password></password><networks><ip>127.0.0.1</ip></networks>
                <profile>default</profile><quota>default</quota></default></users><quotas><default/></quotas></yandex>""")

    def command(self):
        return ["clickhouse-server", f"--config-file={self.folder}/config.xml"]

    def start(self):
        self.process = subprocess.Popen(self.command(), cwd=self.folder, stdout=open(f"{self.folder}/out", "a"), stderr=subprocess.STDOUT)
        for _ in range(1200):
            try:
                return self.ask("SELECT 1")
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError(open(f"{self.folder}/out").read()[-500:])
                time.sleep(0.1)
        raise RuntimeError("clickhouse-server does not answer for two minutes")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, statement):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", statement.encode(), timeout=120) as answer:
                return [line.split("\t") for line in answer.read().decode().splitlines()]
        except urllib.error.HTTPError as refused:
            raise RuntimeError(f"{statement[:200]}: {refused.read()[:500]}")

    def read_rows(self):
        """How many rows it has read for questions about profiles so far."""
        seen = None
        for _ in range(600): # the log has its own time
            seen, before = self.ask("SELECT count(), sum(read_rows) FROM system.query_log WHERE type = 2 AND query LIKE 'SELECT %' AND "
                                    "query LIKE '%tailor.%' AND query NOT LIKE '%query_log%'"), seen
            if seen == before:
                return int(seen[0][1])
            time.sleep(3)
        raise RuntimeError("the log of statements does not come to rest")

class CurrentServer(Server):
    def configure(self, tcp):
        pass

    def command(self):
        return [os.environ["CHDB_PYTHON"], os.path.abspath("tests/long/clickhouse_server.py"), f"{self.folder}/data", str(self.port), f"{self.folder}/log"]

    def statements(self):
        return [json.loads(line) for line in open(f"{self.folder}/log")]

    def read_rows(self):
        return sum(s["read_rows"] for s in self.statements() if s["statement"].startswith("SELECT ") and "tailor." in s["statement"])

def record():
    """Real epochs of a host that executes compiled queries: their store."""
    subprocess.run([TAILOR, "run", "-o", f"{DIR}/r.tlr", "--epochs", "1s", "--", f"{BUILD}/engine", "--query", "q3", "--scale", "0.1",
                    "--seconds", str(EPOCHS + 4)], capture_output=True)
    traces = sorted(glob.glob(f"{DIR}/r.0*.tlr"))
    expect(len(traces) >= 5, f"expected some epochs, got {len(traces)}")
    tailor("db", "add", f"{DIR}/base.tlrs", *traces)
    return f"{DIR}/base.tlrs"

def clone(base, n):
    """A host's store: epochs of the base, some twice and some not, every ten minutes of its own beginning."""
    store = f"{DIR}/host{n}.tlrs"
    shutil.copyfile(base, store)
    db = sqlite3.connect(store)
    ids = [i for i, in db.execute("SELECT id FROM epoch")]
    chosen = [random.choice(ids) for _ in range(EPOCHS)]
    begin = DAY * SECOND + n % 12 * 3600 * SECOND
    for i, of in enumerate(chosen):
        at = begin + i * 600 * SECOND
        new = db.execute("INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, lost, cpus, parts) SELECT ?, ?, "
                         "0, ?, ?, host, samples, effective, lost, cpus, 1 FROM epoch WHERE id = ?",
                         (n + 1, i + 1, at, at + 599 * SECOND, of)).lastrowid
        db.execute("INSERT INTO block SELECT ?, part, rows, bytes, crc, data FROM block WHERE epoch = ?", (new, of))
    db.executemany("DELETE FROM epoch WHERE id = ?", [(i,) for i in ids])
    db.executemany("DELETE FROM block WHERE epoch = ?", [(i,) for i in ids])
    db.execute("UPDATE meta SET value = hex(randomblob(16)) WHERE key = 'store'")
    db.execute("UPDATE text SET s = ? WHERE id IN (SELECT host FROM epoch)", (f"host{n}",))
    service = db.execute("INSERT INTO text(hash, s) VALUES(?, ?)", (n, SERVICES[n % 2])).lastrowid
    db.execute("UPDATE process SET service = ?", (service,))
    db.commit()
    db.close()
    return store

def sums(source, *arguments):
    view = arguments[arguments.index("--view") + 1] if "--view" in arguments else "components"
    page = json.loads(tailor("db", "report", source, "--json", "--top", "0", *arguments))
    out = collections.Counter()
    for row in page["tables"][view]:
        out[row["name"], row.get("image") or row.get("place")] += round(row["weight"])
    return out

servers = [(CurrentServer if "CHDB_PYTHON" in os.environ else Server)(name) for name in "ab"]
print(f"FIGURE ClickHouse {servers[0].ask('SELECT version()')[0][0]}")
address = "clickhouse://" + ",".join(f"127.0.0.1:{s.port}" for s in servers) + "/tailor"
try:
    base = record()
    stores = [clone(base, n) for n in range(HOSTS)]

    def push(store):
        p = subprocess.run([TAILOR, "db", "push", store, "--to", address], capture_output=True, text=True)
        return p.returncode, p.stdout + p.stderr

    # of a window within a day the whole day: hours and days are never sent in part
    middle = ["@" + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(DAY + minutes * 60)) for minutes in (65, 75)]
    text = tailor("db", "push", stores[0] + middle[0] + ".." + middle[1][1:], "--to", address)
    expect(text.startswith("5 epochs, hours and days pushed"), f"expected four hours and a day of a window within them, got: {text}")

    # one of them is killed while hosts push, and starts again
    failed, pushed = 0, 0
    killed = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for done in concurrent.futures.as_completed([pool.submit(push, s) for s in stores]):
            code, text = done.result()
            failed, pushed = failed + (code != 0), pushed + (code == 0)
            expect(code in (0, 1) and (code == 0 or "127.0.0.1" in text), f"push: exit status {code}: {text}")
            if pushed == HOSTS // 3 and not killed.is_set():
                killed.set()
                servers[1].kill()
    expect(failed > 0, "no push failed while a server was away")
    servers[1].start()
    for again in range(2): # the second time all is there
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(push, stores))
        expect(not [a for a in answers if a[0]], f"pushes fail: {[a for a in answers if a[0]][:2]}")
    expect(all(text.startswith("0 epochs, hours and days pushed in 0 requests") for _, text in answers), f"something is pushed twice: {answers[:2]}")

    # what it takes: each table's bytes by row, merged
    for server in servers:
        for table in ("rows", "manifest"):
            for partition, in server.ask(f"SELECT DISTINCT partition FROM system.parts WHERE database = 'tailor' AND table = '{table}' AND active"):
                server.ask(f"OPTIMIZE TABLE tailor.{table} PARTITION " + partition.replace("\\'", "'") + " FINAL")
    for table, key in (("rows", "tier = 1"), ("rows", "tier = 2"), ("manifest", "1"), ("series", "1"), ("functions", "1")):
        count = sum(int(s.ask(f"SELECT count() FROM tailor.{table} WHERE {key}")[0][0]) for s in servers)
        where = f" AND partition LIKE '({key[-1]},%'" if "tier" in key else ""
        size = sum(int(s.ask(f"SELECT sum(bytes_on_disk) FROM system.parts WHERE database = 'tailor' AND table = '{table}' AND active{where}")[0][0])
                   for s in servers)
        print(f"FIGURE {table} {key if 'tier' in key else ''}: {count} rows, {size} bytes, {size / max(count, 1):.1f} a row")

    # what is not to be counted: rows without a manifest, and an hour that is there a second time
    servers[0].ask("INSERT INTO tailor.rows SELECT tier, day, host, begin, attempt - 1, series, location, n, w FROM tailor.rows")
    servers[1].ask("INSERT INTO tailor.rows SELECT tier, day, host, begin, attempt + 1, series, location, n, w FROM tailor.rows")
    servers[1].ask("INSERT INTO tailor.manifest (tier, day, host, begin, attempt, host_name, first_ns, last_ns, parts, rows, samples, effective, n, "
                   "w, lost, cpus) SELECT tier, day, host, begin, attempt + 1, host_name, first_ns, last_ns, parts, rows, samples, effective, n, "
                   "w, lost, cpus FROM tailor.manifest")

    wanted, functions = collections.Counter(), collections.Counter()
    for store in stores:
        wanted += sums(store)
        functions += sums(store, "--view", "functions")
    expect(sums(address) == wanted, f"components: in the stores {wanted}, in ClickHouse {sums(address)}")
    # a function's weight is to be seen as that of whole samples here, too
    got = sums(address, "--view", "functions")
    off = {k: (got[k], n) for k, n in functions.items() if abs(got[k] - n) > n / 50 + 20 * 10**6}
    expect(not off, f"functions: {list(off.items())[:5]}")
    expect(abs(sum(got.values()) - sum(wanted.values())) <= len(got), f"functions: {sum(got.values())} of {sum(wanted.values())}")
    for n in (0, 7, HOSTS - 1):
        expect(sums(address, "--host", f"host{n}") == sums(stores[n]), f"host{n} has other sums in ClickHouse")
    split = [int(s.ask("SELECT count(DISTINCT host) FROM tailor.manifest")[0][0]) for s in servers]
    expect(sum(split) == HOSTS and min(split) > HOSTS // 5, f"hosts by server: {split}")
    line = json.loads(tailor("db", "timeline", address, "--json", "--top", "0"))["tables"]["points"]
    expect(sum(p["weight"] for p in line) == sum(wanted.values()), "the timeline has another sum")
    same = json.loads(tailor("diff", address, f"{address}@2000-01-01..now", "--json"))["tables"]["changes"]
    expect(not [c for c in same if c["significant"]], f"the same window differs from itself: {same[:2]}")

    # services, of the machines that have them
    by_service = collections.Counter()
    for n, store in enumerate(stores):
        by_service[SERVICES[n % 2], ""] += sum(sums(store).values())
    expect(sums(address, "--view", "services") == by_service, f"services: in the stores {by_service}, in ClickHouse {sums(address, '--view', 'services')}")
    one = sum(sums(address, "--service", SERVICES[1]).values())
    expect(one == by_service[SERVICES[1], ""], f"{SERVICES[1]}: {one}, expected {by_service[SERVICES[1], '']}")

    # the page's own statement, on one of the servers
    page = open("docs/fleet.md").read()
    statement = page.split("```sql\n")[1].split("```")[0].replace("2026-11-25", time.strftime("%Y-%m-%d", time.gmtime(DAY)))
    statement = statement.replace("FROM rows", "FROM tailor.rows").replace("FROM manifest", "FROM tailor.manifest").replace("JOIN functions", "JOIN tailor.functions")
    top = servers[0].ask(statement)
    expect(len(top) == 20 and top[0][0] == max(functions, key=functions.get)[0], f"the page's statement: {top[:2]}, and the stores have {functions.most_common(1)}")

    # a late epoch replaces its hour
    db = sqlite3.connect(stores[0])
    first, = db.execute("SELECT min(id) FROM epoch").fetchone()
    new = db.execute("INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, lost, cpus, parts) SELECT recording, "
                     "99, 0, begin_ns + 1, end_ns, host, samples, effective, lost, cpus, 1 FROM epoch WHERE id = ?", (first,)).lastrowid
    db.execute("INSERT INTO block SELECT ?, part, rows, bytes, crc, data FROM block WHERE epoch = ?", (new, first))
    db.commit()
    db.close()
    text = tailor("db", "push", stores[0], "--to", address)
    expect(text.startswith("2 epochs, hours and days pushed"), f"expected an hour and a day to be replaced, got: {text}")
    expect(sums(address, "--host", "host0") == sums(stores[0]), "a late epoch is not in its host's sums")

    for server in servers:
        for table, columns in (("rows", "tier, day, host + {0}, begin, attempt, series, location, n, w"),
                               ("manifest", "tier, day, host + {0}, begin, attempt, concat(host_name, '-{0}'), first_ns, last_ns, parts, rows, "
                                "samples, effective, n, w, lost, cpus, at")):
            server.ask(f"CREATE TABLE tailor.one_{table} AS tailor.{table}")
            server.ask(f"INSERT INTO tailor.one_{table} SELECT * FROM tailor.{table}")
            for clone in range(1, CLONES):
                server.ask(f"INSERT INTO tailor.{table} SELECT {columns.format(clone)} FROM tailor.one_{table}")
            server.ask(f"DROP TABLE tailor.one_{table}")

    # the day also before: 27 others are not read for it
    for server in servers:
        for table, columns in (("rows", "tier, day - {0}, host, begin - {0} * 86400, attempt, series, location, n, w"),
                               ("manifest", "tier, day - {0}, host, begin - {0} * 86400, attempt, host_name, first_ns - {0} * 86400000000000, "
                                "last_ns - {0} * 86400000000000, parts, rows, samples, effective, n, w, lost, cpus, at")):
            for back in range(1, 28):
                server.ask(f"INSERT INTO tailor.{table} SELECT {columns.format(back)} FROM tailor.{table} WHERE toUInt32(day) = {DAY // 86400}")
            for partition, in server.ask(f"SELECT DISTINCT partition FROM system.parts WHERE database = 'tailor' AND table = '{table}' AND active"):
                server.ask(f"OPTIMIZE TABLE tailor.{table} PARTITION " + partition.replace("\\'", "'") + " FINAL")
    window = address + time.strftime("@%Y-%m-%d", time.gmtime(DAY))
    key = f"tier = 2 AND day = '{time.strftime('%Y-%m-%d', time.gmtime(DAY))}'"
    of_day = sum(int(s.ask(f"SELECT count() FROM tailor.rows WHERE {key}")[0][0]) for s in servers)
    of_all = sum(int(s.ask("SELECT count() FROM tailor.rows")[0][0]) for s in servers)
    before = sum(s.read_rows() for s in servers)
    begin = time.monotonic()
    answers = [tailor("db", "report", window, "--json", "--top", "0", "--view", "functions")]
    took_s = time.monotonic() - begin
    read = sum(s.read_rows() for s in servers) - before
    expect(of_day < read <= max(1.2 * of_day, of_day + 4 * 8192), f"functions of a day: {read} rows are read, the day has {of_day}")
    print(f"FIGURE functions of one day of 28: {read} rows read of {of_all}, the day has {of_day} of {CLONES * HOSTS} hosts; {took_s:.2f} s")
    answers += [tailor("db", "report", window, "--json", "--top", "0", "--view", "functions") for _ in range(2)]
    expect(len(set(answers)) == 1, "the same question has other answers")
    expect(sum(sums(window).values()) == CLONES * sum(sum(sums(store).values()) for store in stores), "a day of 28 has other sums than its stores")

    # 60 weeks at once, and dates of a machine without a clock
    def of_dates(name, begins):
        store = f"{DIR}/{name}.tlrs"
        shutil.copyfile(base, store)
        db = sqlite3.connect(store)
        ids = [i for i, in db.execute("SELECT id FROM epoch")]
        for n, at in enumerate(begins):
            new = db.execute("INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, lost, cpus, parts) SELECT 7, ?, 0, "
                             "?, ?, host, samples, effective, lost, cpus, 1 FROM epoch WHERE id = ?",
                             (n, at * SECOND, (at + 599) * SECOND, ids[0])).lastrowid
            db.execute("INSERT INTO block SELECT ?, part, rows, bytes, crc, data FROM block WHERE epoch = ?", (new, ids[0]))
        db.executemany("DELETE FROM epoch WHERE id = ?", [(i,) for i in ids])
        db.executemany("DELETE FROM block WHERE epoch = ?", [(i,) for i in ids])
        db.execute("UPDATE meta SET value = hex(randomblob(16)) WHERE key = 'store'")
        db.commit()
        db.close()
        return store

    for name, begins, units in (("weeks", [DAY - k * 7 * 86400 for k in range(60)], 120), ("old", [0, 3600, 7200 + 86400, 99 * 86400, 3 * 365 * 86400], 9),
                                ("both", [-86400 * 400, -1000, DAY], 2)):
        store, at = of_dates(name, begins), address[:-len("tailor")] + name
        text = tailor("db", "push", store, "--to", at)
        expect(text.startswith(f"{units} epochs, hours and days pushed"), f"{name}: expected {units}, got: {text}")
        expect(("2 epochs are of dates that the server has not" in text) == (name == "both"), f"{name}: {text}")
        text = tailor("db", "push", store, "--to", at)
        expect(text.startswith("0 epochs, hours and days pushed") and f"; {units} were there" in text, f"{name}, again: {text}")
        for view in ("components", "functions", "queries", "processes"):
            window = "@1970-01-01T00:00Z..now"
            pushed, own = (sum(sums(where, "--view", view).values()) for where in (at, store + window))
            # sums() rounds each row to a nanosecond
            expect(abs(pushed - own) <= 1000, f"{name}: {view} have other sums than the store, {pushed} and {own}")
    text = tailor("db", "push", of_dates("now", [int(time.time())]), "--to", address)
    expect(text == "nothing to push: no hour is complete yet\n", f"an hour that is not over: {text}")

    if isinstance(servers[0], CurrentServer):
        inserts = [s for server in servers for s in server.statements() if s["statement"].startswith("INSERT") and " FORMAT " in s["statement"]]
        expect(inserts and all(s["settings"] == {"wait_for_async_insert": "1"} for s in inserts), f"inserts do not ask for the wait: {inserts[:2]}")

    print(f"FIGURE {HOSTS} hosts of {EPOCHS} epochs on {split} hosts of two servers; {failed} pushes failed while one was away")
finally:
    for server in servers:
        server.process.kill()
        server.process.wait()
sys.exit(bool(bad))
