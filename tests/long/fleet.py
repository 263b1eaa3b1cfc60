# SPDX-License-Identifier: MIT
"""fleet.py BUILD DIR: see fleet-in-clickhouse.sh."""
import collections, concurrent.futures, glob, json, os, random, shutil, socket, sqlite3, subprocess, sys, threading, time, urllib.request

BUILD, DIR = sys.argv[1:]
TAILOR = f"{BUILD}/tailor"
HOSTS, EPOCHS, SECOND = int(os.environ.get("HOSTS", 300)), 20, 10**9
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
    def __init__(self, name):
        self.folder, self.port, tcp = f"{DIR}/{name}", free_port(), free_port()
        os.makedirs(self.folder)
        with open(f"{self.folder}/config.xml", "w") as f:
            f.write(f"""<yandex><logger><level>warning</level><log>{self.folder}/log</log><errorlog>{self.folder}/errors</errorlog></logger>
                <http_port>{self.port}</http_port><tcp_port>{tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
                <path>{self.folder}/data/</path><tmp_path>{self.folder}/tmp/</tmp_path><users_config>users.xml</users_config>
                <default_profile>default</default_profile><mark_cache_size>16777216</mark_cache_size></yandex>""")
        with open(f"{self.folder}/users.xml", "w") as f:
            f.write("""<yandex><profiles><default/></profiles><users><default><password></password><networks><ip>127.0.0.1</ip></networks>
                <profile>default</profile><quota>default</quota></default></users><quotas><default/></quotas></yandex>""")
        self.start()

    def start(self):
        self.process = subprocess.Popen(["clickhouse-server", f"--config-file={self.folder}/config.xml"], cwd=self.folder,
                                        stdout=open(f"{self.folder}/out", "a"), stderr=subprocess.STDOUT)
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
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", statement.encode(), timeout=120) as answer:
            return [line.split("\t") for line in answer.read().decode().splitlines()]

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
        out[row["name"], row.get("image") or row["place"]] += round(row["weight"])
    return out

servers = [Server("a"), Server("b")]
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
    expect(text.startswith("5 pushed"), f"expected four hours and a day of a window within them, got: {text}")

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
    expect(text.startswith("2 pushed"), f"expected an hour and a day to be replaced, got: {text}")
    expect(sums(address, "--host", "host0") == sums(stores[0]), "a late epoch is not in its host's sums")

    print(f"FIGURE {HOSTS} hosts of {EPOCHS} epochs on {split} hosts of two servers; {failed} pushes failed while one was away")
finally:
    for server in servers:
        server.process.kill()
        server.process.wait()
sys.exit(bool(bad))
