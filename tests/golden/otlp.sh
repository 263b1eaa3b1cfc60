#!/bin/bash
# SPDX-License-Identifier: MIT
# OpenTelemetry's profiles, read back by protoc: each index is in its table, no entry is missing or superfluous, and what receivers demand
# else; of each event they have as much as the report; operators are callers of the code that works for them.  A store's go to a file and
# to a server alike, what the server asks for again is sent again, and a refusal is a sentence.
set -u
command -v protoc >/dev/null || { echo "skipped, because protoc is missing (Debian: protobuf-compiler)"; exit 77; }
out=$1/golden-otlp
mkdir -p "$out"
/usr/bin/python3 - "$1/tailor" "$out" <<'END'
import glob, gzip, http.server, json, os, re, subprocess, sys, threading
sys.path.insert(0, "tests/golden")
from otlp import Profiles, HERE

tailor, out = sys.argv[1:]
bad = []

def expect(holds, sentence):
    if not holds:
        bad.append(sentence)
        print(sentence)

def run(*arguments, **more):
    return subprocess.run([tailor, *arguments], check=True, capture_output=True, **more).stdout

# the numbers that it writes are the pinned version's
proto, message = {}, None
for line in open(f"{HERE}/otlp.proto"):
    if found := re.match(r"message (\w+)", line):
        message = found[1]
    for field, n in re.findall(r"\w+ (\w+) = (\d+);", line):
        proto[message, field] = int(n)
fields = {(m, f): int(n) for m, f, n in re.findall(r"X\((\w+), (\w+), (\d+)\)", open("analyzer/wire/otlp_fields.h").read())}
expect(len(fields) > 40, f"otlp_fields.h has {len(fields)} fields")
expect(all(proto.get(k) == n for k, n in fields.items()), f"other numbers: {[k for k, n in fields.items() if proto.get(k) != n]}")

NAMES = {"task-clock": "cpu", "cpu-clock": "cpu", "context-switches": "off_cpu"}
for trace in ("tests/golden/v1.tlr", "tests/golden/v2.tlr", "tests/golden/views/whatif.tlr"):
    p = Profiles(run("export", "--format", "otlp", trace))
    expect(not p.bad, f"{trace}: {p.bad[:5]}")
    report = json.loads(run("report", "--json", trace))
    wanted = {NAMES.get(e["name"], e["name"]): round(e["weight"]) for e in report["events"] if e["weight"]}
    expect({k[0]: n for k, n in p.sums().items()} == wanted, f"{trace}: expected {wanted}, got {p.sums()}")
    expect({k[1] for k in p.sums() if k[0] in ("cpu", "off_cpu")} <= {"nanoseconds"}, f"{trace}: times in {set(p.sums())}")
    again = Profiles(run("export", "--format", "otlp", trace))
    expect(again.ids == p.ids, f"{trace}: the same profile has another id in the next export")
joins = sum(n for name, n in Profiles(run("export", "--format", "otlp", "tests/golden/v1.tlr")).sums(lambda s: s[3][-2]).items()
            if name == "scan lineitem")
expect(joins == 7 * 3000001, f"expected 7 samples below scan lineitem, got a weight of {joins}")

# a store's epochs: as much of each event as the store has, operators as callers; the same to a file and to a server
store = f"{out}/s.tlrs"
for path in glob.glob(f"{store}*") + glob.glob(f"{out}/services.tlrs*"):
    os.unlink(path)
run("db", "add", store, "tests/golden/v1.tlr", "tests/golden/v2.tlr")
rows = json.loads(run("db", "sql", store, "SELECT s AS name FROM event e JOIN text t ON t.id = e.name", "--json"))["tables"]["rows"]
events = {row["name"] for row in rows}
wanted = {}
for event in events:
    components = json.loads(run("db", "report", store, "--json", "--top", "0", "--event", event))
    if components["weight"]:
        wanted[NAMES.get(event, event)] = components["weight"]
run("db", "export", store, "--overwrite", "--format", "otlp", "-o", f"{out}/s.otlp")
p = Profiles(open(f"{out}/s.otlp", "rb").read())
expect(not p.bad, f"a store: {p.bad[:5]}")
expect({k[0]: n for k, n in p.sums().items()} == wanted, f"a store: expected {wanted}, got {p.sums()}")
got = p.sums(lambda s: s[3][-2] if len(s[3]) > 2 and s[1] == "cycles" else "")["scan lineitem"]
row, = [c for c in json.loads(run("db", "report", store, "--json", "--top", "0", "--event", "cycles"))["tables"]["components"]
        if c["name"] == "scan lineitem"]
expect(got == row["weight"], f"a store: expected {row['weight']} of scan lineitem, got {got}")
run("db", "export", store, "--overwrite", "--format", "pprof", "-o", f"{out}/s.pb.gz")
expect(len(gzip.open(f"{out}/s.pb.gz").read()) > 1000, "a store as pprof is empty")

# a resource is of its process's service, where it has one
environment = dict(os.environ, OTEL_SERVICE_NAME="shop", TAILOR_EVENT="task-clock")
run("run", "-q", "--no-preload", "-e", "task-clock", "-o", f"{out}/r.tlr", "--", "sh", "-c",
    "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", env=environment)
run("db", "add", f"{out}/services.tlrs", f"{out}/r.tlr")
run("db", "export", f"{out}/services.tlrs", "--overwrite", "--format", "otlp", "-o", f"{out}/services.otlp")
for what, data in ("a trace", run("export", "--format", "otlp", f"{out}/r.tlr")), ("a store", open(f"{out}/services.otlp", "rb").read()):
    names = {(s[0]["service.name"], s[0]["process.executable.name"]) for s in Profiles(data).samples}
    expect({n[0] for n in names} == {"shop"} and "shop" not in {n[1] for n in names}, f"{what}: expected the service shop, got {names}")

class Receiver(http.server.BaseHTTPRequestHandler):
    answers, taken = [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, more, text = self.answers.pop(0) if self.answers else (200, {}, b"")
        if status == 200:
            self.taken.append((self.path, self.headers["Content-Type"], gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body))
        self.send_response(status)
        for name, value in {**more, "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
target = f"otlp+http://127.0.0.1:{server.server_port}"

def push(*answers, window=""):
    Receiver.answers[:] = answers
    Receiver.taken.clear()
    return subprocess.run([tailor, "db", "push", store + window, "--to", target], capture_output=True, text=True)

done = push((503, {"Retry-After": "1"}, b""))
expect(done.returncode == 0 or "libcurl is not installed" in done.stderr, f"push: {done.stderr}")
if "libcurl is not installed" not in done.stderr:
    taken = [t[:2] for t in Receiver.taken]
    expect(re.fullmatch(r"[1-9][0-9]* profiles pushed in 1 request of [0-9]+ bytes\n", done.stdout), f"push: {done.stdout}")
    expect(taken == [("/v1development/profiles", "application/x-protobuf")], f"push: {taken}")
    expect(Receiver.taken and Receiver.taken[0][2] == open(f"{out}/s.otlp", "rb").read(), "what is pushed is not what is exported")
    for answer, sentence in (((400, {}, b"no such tenant\n<b>"), "refused (400): no such tenant"), ((404, {}, b""), "has no such path"),
                             ((500, {}, b""), "refused (500)\n"),
                             ((413, {}, b""), "refuses a request of this size"),
                             ((200, {}, b"\x0a\x02\x08\x07"), "were rejected; the server's log may say why")):
        failed = push(answer)
        expect(failed.returncode == 1 and sentence in failed.stderr, f"expected '{sentence}', got {failed.returncode}: {failed.stderr}")
        expect(not Receiver.answers and len(Receiver.taken) == (answer[0] == 200), f"after {answer[0]} it tried again")
    failed = push(*5 * [(503, {"Retry-After": "1"}, b"")])
    expect(failed.returncode == 1 and "refused 5 times (503)\n" in failed.stderr, f"five tries: {failed.stderr}")
    failed = push(window="@2001-01-01")
    expect(failed.returncode == 1 and "no epoch is in that window" in failed.stderr and not failed.stdout,
           f"an empty window: {failed.stdout}{failed.stderr}")
    target = f"clickhouse://127.0.0.1:{server.server_port}/d"
    failed = push((500, {}, b"Code: 60, Table d.rows doesn't exist\x1b[2J\nmore"))
    sentence = "ClickHouse refused (500): Code: 60, Table d.rows doesn't exist?[2J\n"
    expect(failed.returncode == 1 and sentence in failed.stderr, f"expected '{sentence}', got: {failed.stderr}")
for target, sentence in ("smtp://127.0.0.1/d", "is no target"), ("otlp+http:///d", "names no host"):
    failed = push()
    expect(failed.returncode == 2 and sentence in failed.stderr and not failed.stdout, f"{target}: {failed.stdout}{failed.stderr}")
sys.exit(bool(bad))
END
