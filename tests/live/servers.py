# SPDX-License-Identifier: MIT
"""servers.py BUILD DIR: see servers-are-not-trusted.sh."""
import http.server, json, os, random, re, shutil, sqlite3, subprocess, sys, threading, time, urllib.parse

BUILD, DIR = sys.argv[1:]
TAILOR, SECOND, MEMORY_MAX_MIB = f"{BUILD}/tailor", 10**9, 600
random.seed(7)
bad = []


def expect(holds, sentence):
    if not holds:
        bad.append(sentence)
        print(sentence)


class Server(http.server.BaseHTTPRequestHandler):
    """answer: of a request's address and body a status, headers and bytes; bytes that are None never end."""
    answer, requests = None, []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.requests.append((self.path, body))
        status, headers, data = Server.answer(self.path, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if data is not None:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data or b"")
            while data is None:
                self.wfile.write(b"1\t2\t3\t4\t5\t6\t7\t8\n" * 4096)
        except OSError: # the client has gone away, as it should
            pass
        self.close_connection = True

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
OTLP, CLICKHOUSE = (f"{scheme}://127.0.0.1:{server.server_port}" for scheme in ("otlp+http", "clickhouse"))
CLICKHOUSE += "/d"


def tailor(answer, *arguments):
    """Exit status, standard output, messages and the most memory in MiB, of a server that answers so."""
    Server.answer, Server.requests[:] = staticmethod(answer), []
    out, err = open(f"{DIR}/out", "w+"), open(f"{DIR}/err", "w+")
    pid = os.posix_spawn(TAILOR, [TAILOR, *arguments], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1),
                                                                                   (os.POSIX_SPAWN_DUP2, err.fileno(), 2)])
    _, status, usage = os.wait4(pid, 0)
    out.seek(0)
    err.seek(0)
    return os.waitstatus_to_exitcode(status), out.read(), err.read(), usage.ru_maxrss / 1024


def store_of(name, begins):
    """A store of one epoch of a second at each of these times."""
    path = f"{DIR}/{name}.tlrs"
    shutil.copyfile(f"{DIR}/base.tlrs", path)
    db = sqlite3.connect(path)
    old = [i for i, in db.execute("SELECT id FROM epoch")]
    for n, at in enumerate(begins):
        new = db.execute("INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, lost, cpus, parts) SELECT 7, ?, 0, ?, "
                         "?, host, samples, effective, lost, cpus, 1 FROM epoch WHERE id = ?", (n, at * SECOND, at * SECOND, old[0])).lastrowid
        db.execute("INSERT INTO block SELECT ?, part, rows, bytes, crc, data FROM block WHERE epoch = ?", (new, old[0]))
    for i in old:
        db.execute("DELETE FROM epoch WHERE id = ?", (i,))
        db.execute("DELETE FROM block WHERE epoch = ?", (i,))
    db.commit()
    db.close()
    return path


subprocess.run([TAILOR, "db", "add", f"{DIR}/base.tlrs", "tests/golden/v1.tlr"], check=True, capture_output=True)
DAY = 1763856000
store = store_of("some", [DAY])
if "libcurl is not installed" in tailor(lambda *_: (200, {}, b""), "db", "push", store, "--to", OTLP)[2]:
    print("skipped, because libcurl is not installed")
    sys.exit(77)

# ---------------------------------------------------------------------------------------------------------------- OTLP

PROTOBUF, JSON, HTML = ({"Content-Type": t} for t in ("application/x-protobuf", "application/json; charset=utf-8", "text/html"))


def push_otlp(headers, data, status=200):
    return tailor(lambda *_: (status, headers, data), "db", "push", store, "--to", OTLP)


code, out, err, _ = push_otlp(PROTOBUF, b"")
expect(code == 0 and not err, f"nothing is an answer: exit status {code}: {err}")
NR = int(out.split()[0])
expect(NR > 1, f"expected some profiles, got: {out}")

for headers, data, what in ((PROTOBUF, random.randbytes(200000), "random bytes"), (PROTOBUF, bytes(200000), "zeros"), ({}, b"OK\n", "a text"),
                            (HTML, b"<html><body>Welcome</body></html>", "a page"), (JSON, b"[1]", "another JSON"), (JSON, b"{", "a part of JSON"),
                            (PROTOBUF, b"\x0a\x7f\x08", "a part of a message")):
    for status in (200, 202):
        code, out, err, _ = push_otlp(headers, data, status)
        expect(code == 1 and not out and f"its answer ({status}" in err and "is not one of OTLP" in err, f"OTLP, {what}: exit status {code}: {out}{err}")

for headers, data in ((PROTOBUF, b"\x0a\x0b\x08\x01\x12\x07too\x07old"), ({}, b"\x0a\x0b\x08\x01\x12\x07too\x07old"),
                      (JSON, b'{"partialSuccess":{"rejectedProfiles":"1","errorMessage":"too\\u0007old"}}'),
                      (JSON, b'{"partialSuccess":{"errorMessage":"too\\u0007old","rejectedProfiles":1}}')):
    code, out, err, _ = push_otlp(headers, data)
    expect(code == 1 and out.startswith(f"{NR - 1} profiles pushed in 1 request of") and "; 1 were rejected\n" in out and
           f"1 of {NR} profiles were rejected: too?old\n" in err, f"a part, as {headers}: exit status {code}: {out}{err}")
code, out, err, _ = push_otlp(PROTOBUF, b"\x0a\x06\x08\xff\xff\xff\xff\x0f")
expect(code == 1 and out.startswith("0 profiles pushed") and f"{NR} of {NR} profiles were rejected" in err, f"more than there are: {out}{err}")
code, out, err, _ = push_otlp(JSON, b'{"partialSuccess":{"errorMessage":"slow down"}}')
expect(code == 0 and out.startswith(f"{NR} profiles pushed") and "with a warning: slow down" in err, f"a warning: exit status {code}: {out}{err}")
code, out, err, _ = push_otlp(PROTOBUF, b"\x08\x03\x12\x0eno such tenant", 400)
expect(code == 1 and "refused (400): no such tenant\n" in err, f"a status: {err}")
code, out, err, mib = push_otlp(PROTOBUF, None)
expect(code == 1 and not out and "the answer is larger than 4 MiB" in err and mib < MEMORY_MAX_MIB, f"OTLP, endless: {code}, {mib} MiB: {out}{err}")

# ---------------------------------------------------------------------------------------------------------- ClickHouse

EPOCHS = f"{DAY}\t{DAY * SECOND}\t{DAY * SECOND + 1}\t1\t1024\t1024\t0\t4\n"
SERIES = "1\tcycles\tevents\tp\t/p\t\toperator\tjoin\tjoin\t\tjoin\tSELECT\n"
KINDS = {"greeting": "system.settings", "create": "CREATE", "names' insert": "INSERT INTO d.series", "functions' insert": "INSERT INTO d.functions",
         "rows' insert": "INSERT INTO d.rows",
         "manifest's insert": "INSERT INTO d.manifest", "attempts": "GROUP BY tier, begin", "epochs": "argMax", "rows": "FROM d.rows",
         "series": "FROM d.series", "functions": "FROM d.functions"}
USUAL = {"greeting": "tailor\t1\n", "epochs": EPOCHS, "rows": f"{DAY}\t1\t2\t3\t4\n", "series": SERIES, "functions": "2\tf\t/p\t0\n"}


def kind_of(body):
    return next(k for k, text in KINDS.items() if text.encode() in body.split(b"\n")[0])


def clickhouse(**other):
    """Answers of each kind of statement: the usual ones, but for `other`."""
    def answer(path, body):
        said = other.get(kind_of(body), USUAL.get(kind_of(body), ""))
        return said if isinstance(said, tuple) else (200, {}, said and said.encode())
    return answer


REPORT, PUSH = ("db", "report", CLICKHOUSE, "--view", "functions"), ("db", "push", store, "--to", CLICKHOUSE)
code, out, err, _ = tailor(clickhouse(), *REPORT)
expect(code == 0 and re.search(r"^100\.0 % .* 4  f +/p$", out, re.M), f"the usual answers: exit status {code}: {out}{err}")
statements = [body.decode() for _, body in Server.requests]
expect(all("tier = 2 AND day >= '1970-01-01'" in s for s in statements if "argMax" in s), f"the manifest's statement names no days: {statements}")
expect(sum("d.rows" in s for s in statements) == 1, f"rows are read more than once: {statements}")
tailor(clickhouse(), *REPORT[:2], CLICKHOUSE + "@2025-11-23", *REPORT[3:])
statements = [body.decode() for _, body in Server.requests if b"FROM d.rows" in body]
expect(all("d.rows WHERE tier = 2 AND day >= '2025-11-23' AND day <= '2025-11-23'" in s for s in statements) and statements,
       f"a day's rows are not asked for by tier and day: {statements}")

for command, kinds in ((REPORT, ("greeting", "epochs", "rows", "series", "functions")),
                       (PUSH, ("greeting", "create", "attempts", "names' insert", "functions' insert", "rows' insert", "manifest's insert"))):
    for kind in kinds: # in turn each of them never ends, is another server's, or ends with an exception
        code, out, err, mib = tailor(clickhouse(**{kind: None}), *command)
        expect(code == 1 and "larger than 64 MiB" in err and err.count("\n") == 1 and mib < MEMORY_MAX_MIB,
               f"{command[1]}, {kind}, endless: exit status {code}, {mib:.0f} MiB: {out}{err}")
        code, out, err, _ = tailor(clickhouse(**{kind: "<html>\x1b[2J</html>\n"}), *command)
        expect(code == 1 and "<html>?[2J</html>" in err, f"{command[1]}, {kind}, a page: exit status {code}: {out}{err}")
        before = USUAL.get(kind, "")
        code, out, err, _ = tailor(clickhouse(**{kind: before + "Code: 241. DB::Exception: Memory limit exceeded\n"}), *command)
        expect(code == 1 and ("Memory limit" in err or kind == "greeting"), f"{command[1]}, {kind}, an exception behind it: exit status {code}: {out}{err}")
        expect("hours and days pushed" not in out or not out.split()[0].strip("0"), f"{command[1]}, {kind}: what is not there is pushed: {out}")
    for data in (b"", b"Ok.\n"):
        code, out, err, _ = tailor(lambda *_: (200, {}, data), *command)
        expect(code == 1 and "is no ClickHouse" in err and not out, f"{command[1]}: a server that answers {data}: exit status {code}: {out}{err}")

for epochs, what in ((EPOCHS.replace("\t1024", "\tmany"), "no number"), (EPOCHS.replace(str(DAY), str(DAY + 7), 1), "no whole day"),
                     (EPOCHS.replace(str(DAY), "4294944000", 1), "a day beyond the last")):
    code, out, err, _ = tailor(clickhouse(epochs=epochs), *REPORT)
    expect(code == 1 and "has a line that is not one of the table" in err, f"epochs, {what}: exit status {code}: {out}{err}")
code, out, err, _ = tailor(clickhouse(rows=f"{DAY}\t1\t2\t3\n"), *REPORT)
expect(code == 1 and "has a line that is not one of the table" in err, f"rows, a column less: exit status {code}: {out}{err}")

# ------------------------------------------------------------------------------------------------------- what is pushed

now = int(time.time())
weeks = store_of("weeks", [DAY - k * 7 * 86400 for k in range(60)])
old = store_of("old", [0, 3600, 86400 * 5, 99999999 // 3600 * 3600])
for path, nr in ((weeks, 120), (old, 7)):
    for greeting, wait in (("tailor\t1\n", "wait_for_async_insert=1"), ("tailor\t0\n", "")):
        code, out, err, _ = tailor(clickhouse(greeting=greeting), "db", "push", path, "--to", CLICKHOUSE)
        expect(code == 0 and out.startswith(f"{nr} epochs, hours and days pushed"), f"{path}: exit status {code}: {out}{err}")
        inserts = [(urllib.parse.urlsplit(p).query, b.decode()) for p, b in Server.requests if b.startswith(b"INSERT")]
        expect({q for q, _ in inserts} == {wait}, f"settings of inserts after {greeting!r}: {[q for q, _ in inserts]}")
        expect(all("?" not in p for p, b in Server.requests if not b.startswith(b"INSERT")), "another statement has a setting")
        for _, body in inserts:
            lines = [line.split("\t") for line in body.split("\n")[1:] if line]
            if "d.rows" in body.split("\n")[0] or "d.manifest" in body.split("\n")[0]:
                partitions = {(line[0], (int(line[3]) // 86400 + 3) // 7) for line in lines}
                expect(len(partitions) <= 100, f"{path}: {len(partitions)} partitions in one insert")
                expect(all(re.fullmatch(r"[0-9]{10}", line[3]) for line in lines), f"{path}: a time is not of ten digits: {lines[0]}")
                expect(all(line[1] == time.strftime("%Y-%m-%d", time.gmtime(int(line[3]))) for line in lines), f"{path}: a day is not its time's")
        kinds = [kind_of(b.encode()) for _, b in inserts]
        expect(kinds[-1] == "manifest's insert" and kinds.count("manifest's insert") == kinds.count("rows' insert"), f"order of inserts: {kinds}")

code, out, err, _ = tailor(clickhouse(), "db", "push", store_of("now", [now]), "--to", CLICKHOUSE)
expect(code == 0 and out == "nothing to push: no hour is complete yet\n" and not err, f"an hour that is not over: exit status {code}: {out}{err}")
code, out, err, _ = tailor(clickhouse(), "db", "push", store_of("before", [-1, -86400 * 400]), "--to", CLICKHOUSE)
expect(code == 1 and not out and "all epochs are of dates that the server has not: 1970 to 2105" in err, f"before 1970: exit status {code}: {out}{err}")
code, out, err, _ = tailor(clickhouse(), "db", "push", store_of("both", [-1, DAY]), "--to", CLICKHOUSE)
expect(code == 0 and out.startswith("2 epochs, hours and days pushed") and "1 epoch is of dates that the server has not" in out,
       f"before 1970 and now: exit status {code}: {out}{err}")
sys.exit(bool(bad))
