# SPDX-License-Identifier: MIT
# tests/golden/store.py TAILOR DIR: see store.sh.
import json, os, random, resource, shutil, signal, sqlite3, struct, subprocess, sys, time
sys.path[:0] = ["tests", "tests/bench"]
from month import Month
from store_replay import Changes, Real
from trace_file import FILES, RECORDS, SAMPLES, Trace, deltas, leb, record, samples

TAILOR, DIR = sys.argv[1:]
PID, PERIOD, SECOND = 1000, 10**6, 10**9
OPERATORS = [("scan", "orders"), ("hash join", "a = b"), ("hash join", "c = d"), ("sort", "x"), ("output", "")]
USUAL = [400, 300, 100, 150, 50]
random.seed(7)
os.environ["TMPDIR"] = DIR
bad = []

def expect(holds, sentence):
    if not holds:
        bad.append(sentence)
        print(sentence)

def tailor(*arguments, status=0, **more):
    p = subprocess.run([TAILOR, *arguments], capture_output=True, text=True, **more)
    expect(p.returncode == status if status is not None else p.returncode >= 0,
           f"tailor {' '.join(arguments)}: expected exit status {status}, got {p.returncode}: {p.stdout[-300:]}{p.stderr[-300:]}")
    return p

def epoch(name, number, real_ns, counts, recording=77, factors=None, host="host", outside=0, more=b""):
    """outside: samples that no code has; more: records; factors: periods of the functions' samples as multiples of PERIOD; all are of the first operator then"""
    body = record("HEADER", 0, 2, "test", real_ns, host, "x86_64", "6.1", 2, "/", [["host"]], "run", 0, number, recording)
    body += record("EVENT", 0, 0, "task-clock", "ns", 1, 1, PERIOD, 0, 0, 0, 0, 0, "cpu", 0)
    body += record("PROCESS", PID, 1, "/usr/bin/host", "host") + record("LEVEL", PID, 1, 0, "operator", [])
    for n, (operator, detail) in enumerate(OPERATORS, 1):
        body += record("COMPONENT", PID, 1, 0, n, operator, detail)
        body += record("LOAD", PID, PID, PID, 0x10000 * n, 0x10000 * n, 64, n, f"f_{n}", b"\x90" * 64)
        body += record("CODE_MAP", PID, 0x10000 * n, 0, [[0, 1, 1 if factors else n]])
        if n > 1:
            body += record("EDGE", PID, 1, n - 1, n, 0, 0, "")
    body += more
    ips = [0x10000 * n + 8 for n, nr in enumerate(counts, 1) for _ in range(nr)] + [0x10000 * 50] * outside
    random.shuffle(ips)
    trace = Trace(body)
    table = sorted(set(ips))
    periods = (7, 3, leb(PERIOD)) if not factors else (7, 2, deltas(round(PERIOD * factors[ip // 0x10000 - 1]) for ip in ips))
    trace.add(SAMPLES, samples(len(ips), [
        (1, 2, deltas(2000 + 10**7 * i for i in range(len(ips)))), (2, 3, leb(PID)), (3, 3, leb(PID)),
        (5, 4, leb(len(table)) + deltas(table) + b"".join(leb(table.index(ip)) for ip in ips)), periods]))
    trace.write(f"{DIR}/{name}")
    return f"{DIR}/{name}"

def noisy(counts, factor=()):
    return [max(1, round(random.gauss(n * dict(factor).get(i, 1), n**0.5))) for i, n in enumerate(counts)]

def shown(store, *arguments):
    return json.loads(tailor("db", "report", store, "--json", *arguments).stdout)

def weights(store, *arguments):
    page = shown(store, *arguments)
    table = "functions" if "functions" in arguments else "components"
    return {(c["name"], c["place"] if table == "components" else "") : c["weight"] for c in page["tables"][table]}

# ---- what goes in comes out: three days of epochs of ten minutes, each by itself as a report has it, all together, and by window
now = int(time.time()) // 3600 * 3600 * SECOND
traces, counts = [], []
for i in range(72):
    counts.append(noisy(USUAL))
    traces.append(epoch(f"e.{i + 1:06}.tlr", i + 1, now - (72 - i) * 3600 * SECOND, counts[-1]))
store = f"{DIR}/s.tlrs"
tailor("db", "add", store, *traces[:40])
said = tailor("db", "add", store, *traces[30:]).stderr
expect(said.count("the store has it already") == 10, f"expected ten epochs to be there already, got: {said}")
report = json.loads(tailor("report", "--json", traces[0]).stdout)

def at(minutes):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(now / 1e9 + 60 * minutes))

one = [c["weight"] for c in shown(f"{store}@{at(-72 * 60)}..{at(-71 * 60)}")["tables"]["components"]]
expect(sum(one) == report["events"][0]["weight"], f"expected {report['events'][0]['weight']} in the first hour, got {one}")
total = [sum(c[i] for c in counts) * PERIOD for i in range(5)]
got = weights(store)
expect(sorted(got.values()) == sorted(total), f"expected weights {sorted(total)}, got {got}")
expect(len(got) == 5, f"expected two hash joins in two rows, got {got}")
functions = weights(store, "--view", "functions")
expect(sorted(functions.values()) == sorted(total), f"expected functions of weights {sorted(total)}, got {functions}")
last = weights(f"{store}@-2h..now")
expect(sorted(last.values()) == sorted(n * PERIOD for n in counts[-1]), f"expected the last hour's {counts[-1]}, got {last}")
part = weights(store, "--component", "operator:sort")
expect(list(part.values()) == [total[3]], f"expected sort alone, got {part}")
line = json.loads(tailor("db", "timeline", store, "--json", "--component", "sort").stdout)
expect([p["weight"] for p in line["tables"]["points"]] == [c[3] * PERIOD for c in counts], "expected each epoch's sort in the timeline")
page = shown(store, "--view", "epochs")
epochs = page["tables"]["epochs"]
expect(len(epochs) == 72 and all(e["tier"] in ("epoch", "hour") for e in epochs), f"expected 72 epochs, got {len(epochs)}")
with sqlite3.connect(store) as db:
    stored = [list(row) for row in db.execute("SELECT begin_ns, end_ns FROM epoch ORDER BY begin_ns")]
expect([e["begin_ns"] for e in epochs] == [begin for begin, _ in stored] and [page["begin_ns"], page["end_ns"]] == [stored[0][0], stored[-1][1]],
       f"expected times of whole nanoseconds, as stored, got {epochs[0]['begin_ns']} and {page['end_ns']}")

# a line over time has no gap where epochs follow upon each other
followed = f"{DIR}/followed.tlrs"
tailor("db", "add", followed, *[epoch(f"g.{i + 1:06}.tlr", i + 1, now - (90 - 5 * i) * SECOND, [100] * 5, 85) for i in range(3)])
lane = tailor("db", "timeline", followed, "--component", "sort").stdout.splitlines()[-1]
expect(lane.count("█") + lane.count("#") == 32, f"expected a line without gaps, got {lane}")

# ---- epochs of one hour become one, and no total changes
fine = f"{DIR}/fine.tlrs"
tailor("db", "add", fine, *[epoch(f"f.{i + 1:06}.tlr", i + 1, now - 70 * 3600 * SECOND + i * 600 * SECOND, USUAL, 78) for i in range(12)])
hours = shown(fine, "--view", "epochs")["tables"]["epochs"]
expect([(e["tier"], e["parts"]) for e in hours] == [("hour", 6), ("hour", 6)], f"expected two hours of six epochs, got {hours}")
expect(sorted(weights(fine).values()) == sorted(12 * n * PERIOD for n in USUAL), "expected the same totals in hours")
said = tailor("db", "add", fine, f"{DIR}/f.000003.tlr").stderr
expect("the store has it already" in said, f"expected an epoch that an hour has to be refused, got: {said}")

# ---- changes: none where there is none, and the planted one alone
quiet = f"{DIR}/quiet.tlrs"
for half, factor in enumerate([(), ((3, 1.4),)]):
    for i in range(20):
        n = 20 * half + i
        epoch(f"q.{n + 1:06}.tlr", n + 1, now - (40 - n) * 600 * SECOND, noisy([10 * c for c in USUAL], factor), 79)
tailor("db", "add", quiet, *[f"{DIR}/q.{n + 1:06}.tlr" for n in range(40)])
first, second, third = f"{quiet}@{at(-400)}..{at(-300)}", f"{quiet}@{at(-300)}..{at(-200)}", f"{quiet}@{at(-200)}..{at(0)}"
same = json.loads(tailor("diff", first, second, "--json").stdout)
expect(not [c for c in same["tables"]["changes"] if c["significant"]], f"expected no change, got {same['tables']['changes']}")
changed = json.loads(tailor("diff", first, third, "--json").stdout)
expect([c["name"] for c in changed["tables"]["changes"] if c["significant"]] == ["sort"],
       f"expected a change of sort alone, got {changed['tables']['changes']}")
spread = json.loads(tailor("stat", first, second, third, "--json").stdout)["tables"]["stat"]
expect(spread[0]["name"] == "sort", f"expected that sort varies most, got {spread}")

# ---- the same as verbs of `tailor db`, with its filters and its windows; the epochs of one window; what a store does not know is refused
expect(json.loads(tailor("db", "diff", first, third, "--json").stdout) == changed, "expected the same from `tailor db diff`")
expect(json.loads(tailor("db", "stat", first, second, third, "--json").stdout)["tables"]["stat"] == spread, "expected the same from `tailor db stat`")
window = "--from", at(-400), "--to", at(-300)
expect(shown(quiet, *window) == shown(first), "expected the window of --from and --to")
varying = json.loads(tailor("db", "stat", quiet, *window, "--view", "functions", "--json").stdout)
expect(varying["epochs"] == 10 and all(r["n"] == 10 and r["min"] <= r["mean"] <= r["max"] for r in varying["tables"]["stat"]) and
       sum(r["sum"] for r in varying["tables"]["stat"]) == shown(first)["weight"], f"expected the variation over ten epochs, got {varying}")
alone = json.loads(tailor("db", "diff", first, third, "--component", "sort", "--all", "--json").stdout)["tables"]["changes"]
expect([c["name"] for c in alone] == ["sort"], f"expected sort alone, got {alone}")
for refused in [["diff", first, second, "--thread", "1"], ["diff", first, second, "--level", "pipeline"], ["db", "diff", first, second, "--view", "epochs"],
                ["db", "report", first, "--last", "2h"], ["db", "report", first, "--table", "nothing"], ["db", "--json", "stat", quiet]]:
    expect(tailor(*refused, status=2).stderr, f"expected a sentence of {refused}")
for other in "--host", "--query", "--service", "--process":
    tailor("db", "diff", first, second, other, "nothing", status=None)

# ---- `changes`: nothing in 720 quiet hours; planted changes of a line of 10 %, a plan flip, a recompilation storm.  Epochs of ten minutes vary
# by 1.5 % beyond sampling, as the lines of 10 % and more of the engine's epochs of a second do (tests/long/changes-in-replayed-epochs.sh).
real = Real(quiet, skip=0)
Changes(TAILOR, quiet, DIR, real.share, {s: 0.015 for s in real.share}, 300000).judge(expect)

# ---- bytes do not depend on the load: hours of ten times as many samples take little more
sizes = []
for load in 0.05, 0.5:
    m = Month(quiet, f"{DIR}/load.tlrs", queries=20)
    for hour in range(6):
        m.add(now - (6 - hour) * 3600 * SECOND, 1, 3600 * SECOND, 6, load)
    m.r.db.commit()
    sizes.append(m.r.db.execute("SELECT sum(length(data)), sum(rows) FROM block").fetchone())
    m.r.close()
    tailor("db", "check", f"{DIR}/load.tlrs")
    os.remove(f"{DIR}/load.tlrs")
expect(sizes[1][0] < 1.6 * sizes[0][0] and sizes[1][0] < 3 * sizes[1][1], f"expected bytes by rows, not by samples: (bytes, rows) {sizes}")

# ---- the cap
small = f"{DIR}/small.tlrs"
many = [[random.randrange(1, 9) for _ in range(5)] for _ in range(60)]
tailor("db", "add", "--cap", "1", small, *[epoch(f"c.{i + 1:06}.tlr", i + 1, now - (60 - i) * 600 * SECOND, many[i], 80) for i in range(60)])
db = sqlite3.connect(small)
db.execute("INSERT INTO text(hash, s) SELECT random(), hex(randomblob(2000)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
           "FROM n WHERE i < 800) SELECT i FROM n)")  # names that nothing has any more
db.execute("INSERT INTO block SELECT id, 9, 0, 0, 0, randomblob(20000) FROM epoch")
db.commit()
db.close()
tailor("db", "gc", small)
size = os.path.getsize(small)
left = shown(small, "--view", "epochs")["tables"]["epochs"]
expect(size <= 1.01 * 2**20, f"expected at most 1 MiB, got {size} bytes")
expect(0 < len(left) < 60, f"expected some epochs to be dropped, and not all, got {len(left)}")
tailor("db", "check", small)

# ---- an interrupted writer, again and again: each epoch is there as a whole or not at all
killed = f"{DIR}/killed.tlrs"
for i in range(12):
    p = subprocess.Popen([TAILOR, "db", "add", killed, *traces], stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 0.3))
    p.send_signal(signal.SIGKILL)
    p.wait()
    if os.path.exists(killed) and os.path.getsize(killed):
        p = subprocess.run([TAILOR, "db", "check", killed], capture_output=True, text=True)
        expect(p.returncode == 0 or "nothing was added to it yet" in p.stderr, f"db check of an interrupted store: {p.returncode}: {p.stderr}")
tailor("db", "add", killed, *traces)
expect(weights(killed) == got, f"expected what an undisturbed store has, got {weights(killed)}")

# ---- two readers and a writer
beside = f"{DIR}/beside.tlrs"
tailor("db", "add", beside, traces[0])
writer = subprocess.Popen([TAILOR, "db", "add", beside, *traces[1:]])
readers = 0
while writer.poll() is None or readers < 2:
    for p in [subprocess.Popen([TAILOR, "db", "report", beside, "--json"], stdout=subprocess.PIPE) for _ in range(2)]:
        seen = json.loads(p.communicate()[0])
        whole = [sum(c[i] for c in counts[:int(seen["epochs"])]) * PERIOD for i in range(5)]
        expect(sorted(c["weight"] for c in seen["tables"]["components"]) == sorted(whole), f"expected whole epochs beside a writer, got {seen}")
        readers += 1
expect(writer.returncode == 0 and weights(beside) == got, "expected a writer beside readers to end as one alone")

# ---- no room
full = f"{DIR}/full.tlrs"
tailor("db", "add", full, *traces[:4])
before = weights(full)
limit = 40960 # that of the memory that readers share, and less than an epoch takes of the log
p = tailor("db", "add", full, *traces[4:], status=1, preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
           resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
expect(p.stderr, "expected a sentence where there is no room")
tailor("db", "check", full)
tailor("db", "add", full, *traces)
expect(weights(full) == got, f"expected all epochs once there is room, got {weights(full)}")

# ---- the black box: traces of epochs as one, in which code is once, and all sums are those of the epochs
box = f"{DIR}/box.tlrs"
os.mkdir(f"{box}.epochs")
cuts, cut_counts = [], []
for i in range(4):
    cut_counts.append(noisy(USUAL))
    cuts.append(epoch(f"box.tlrs.epochs/w.{i + 1:06}.tlr", i + 1, now - (4 - i) * 600 * SECOND, cut_counts[-1], 81))
epoch("box.tlrs.epochs/v.000001.tlr", 1, now - 9000 * SECOND, USUAL, 82)
one = f"{DIR}/one.tlr"
said = tailor("db", "trace", box, "-o", one).stdout
expect("1 epochs of earlier recordings" in said, f"expected another recording's epochs to be named, got: {said}")
for window, nr in ("", 4), (f"@{at(-25)}..{at(-15)}", 2):
    tailor("db", "trace", box + window, "-o", one)
    whole = json.loads(tailor("report", "--json", one).stdout)
    wanted = cut_counts if nr == 4 else cut_counts[1:3]
    expect(whole["samples"]["total"] == sum(map(sum, wanted)) and whole["samples"]["attributed"] == whole["samples"]["total"],
           f"expected the samples of {nr} epochs, got {whole['samples']}")
    expect(sorted(c["samples"] for c in whole["components"]) == sorted(sum(c[i] for c in wanted) for i in range(5)),
           f"expected the sums of {nr} epochs, got {whole['components']}")
    objects = [json.loads(l)["record"] for l in tailor("dump", "--json", one).stdout.splitlines()]
    expect(objects.count("LOAD") == 5 and objects.count("HEADER") == 1 and objects.count("END") == 1,
           f"expected five code objects in one trace, got {objects.count('LOAD')}")
    expect(tailor("check", one, status=None).stdout == tailor("check", cuts[0], status=None).stdout, "expected nothing odd in the host's data")
# a window is read in place of a trace
tailor("db", "add", box, *cuts)
page = json.loads(tailor("report", "--json", f"{box}@{at(-25)}..{at(-15)}").stdout)
expect(page["samples"] == whole["samples"] and page["components"] == whole["components"], f"expected a window's report, got {page}")
tailor("export", "--overwrite", "--format", "folded", "-o", f"{DIR}/one.folded", f"{box}@{at(-25)}..{at(-15)}")
said = tailor("report", f"{box}@-300d..-200d", status=1).stderr
expect("tailor db report" in said, f"expected what an old window is asked by, got: {said}")
expect(not [f for f in os.listdir(DIR) if f.startswith("tailor-window")], "expected no trace that stays")
for command in ("diff", box + "@2001-01-01", box), ("diff", box, box + "@2001-01-01"), ("stat", box + "@2001-01-01"):
    for all_of_it in command, ("db", *command):
        done = tailor(*all_of_it, status=1)
        expect("no epoch is in that window" in done.stderr and not done.stdout, f"{all_of_it}: {done.stdout}{done.stderr}")
expect("no trace of that window" in tailor("db", "trace", box, "--last", "1s", "-o", one, status=1).stderr, "expected an old window to be empty")
with open(cuts[-1], "r+b") as f:
    f.truncate(os.path.getsize(cuts[-1]) - 20)
said = tailor("db", "trace", box, "-o", one).stdout
expect("not complete" in said, f"expected a trace that is still written to be named, got: {said}")
tailor("db", "trace", f"{DIR}/nowhere", "-o", one, status=1)
tailor("db", "trace", box, status=2)

# Reasons are those of the epochs asked for, also where epochs of other machines were added between them; and of whole epochs.
hosts = f"{DIR}/hosts.tlrs"
for n, (host, outside) in enumerate([("a", 3), ("b", 50), ("a", 4)]):
    tailor("db", "add", hosts, epoch(f"host-{n}.tlr", 1, now - (30 - n) * SECOND, [5] * 5, 300 + n, None, host, outside))
reasons = shown(hosts, "--view", "reasons", "--host", "a")["tables"]["reasons"]
expect([r["samples"] for r in reasons] == [7] and abs(reasons[0]["share"] - 7 / 57) < 1e-9, f"expected 7 of 57 samples of one machine, got {reasons}")
for narrow in ("--process", "--service", "--query", "--component"):
    said = tailor("db", "report", hosts, "--view", "reasons", narrow, "x", status=2).stderr
    expect("whole epochs" in said, f"expected reasons of whole epochs only, got: {said}")

# A disk without a free byte: what is there is read, what cannot be written is said, and all goes on once there is room.
FULL = """mount -t tmpfs -o size=600k none "$1/disk" && cp "$1/quiet.tlrs" "$1/disk/s.tlrs" || exit 77
dd if=/dev/zero of="$1/disk/fill" bs=1k 2>/dev/null
"$0" db report --json "$1/disk/s.tlrs" >"$1/read.json" && "$0" db check "$1/disk/s.tlrs" || exit 1
"$0" db add "$1/disk/s.tlrs" "$2" && exit 2
"$0" db gc "$1/disk/s.tlrs" && exit 3
rm "$1/disk/fill"
"$0" db add "$1/disk/s.tlrs" "$2" && "$0" db check "$1/disk/s.tlrs" || exit 4"""
os.mkdir(f"{DIR}/disk")
p = subprocess.run(["unshare", *(["-m"] if os.geteuid() == 0 else ["-rm"]), "bash", "-c", FULL, TAILOR, DIR, traces[0]], capture_output=True, text=True)
if p.returncode == 77 or "unshare" in p.stderr:
    print(f"a full disk was not tried: {p.stderr.strip()}")
else:
    expect(p.returncode == 0 and p.stderr.count("no space is left") == 2, f"expected a store on a full disk to be read, got {p.returncode}: {p.stderr}")
    expect(json.load(open(f"{DIR}/read.json")) == shown(quiet), "expected the same of a store on a full disk")

# ---- memory: an epoch that cannot be added for want of it is not there, and is named
scarce = f"{DIR}/scarce.tlrs"
for limit in range(24, 64, 8):
    p = tailor("db", "add", scarce, *traces[:2], status=None, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit << 20,) * 2))
    if p.returncode != 127 and os.path.exists(scarce): # 127: its libraries had no room
        expect(p.returncode == 0 or p.stderr, f"expected a sentence with {limit} MiB, got {p.returncode}")
        check = tailor("db", "check", scarce, status=None)
        expect(check.returncode == 0 or "nothing was added" in check.stderr, f"expected no damage with {limit} MiB, got {check.stderr}")
tailor("db", "add", scarce, *traces)
expect(weights(scarce) == got, f"expected all epochs once there is memory, got {weights(scarce)}")

# ---- the clock is put back, and forth: all epochs are there, those of one time beside each other
stepped = f"{DIR}/stepped.tlrs"
os.mkdir(f"{stepped}.epochs")
begins = [-7200, -6600, -10200, -9600, -3600]
for i, seconds in enumerate(begins):
    epoch(f"stepped.tlrs.epochs/w.{i + 1:06}.tlr", i + 1, now + seconds * SECOND, USUAL, 83)
steps = [f"{stepped}.epochs/w.{i + 1:06}.tlr" for i in range(5)]
tailor("db", "add", stepped, *steps)
times = [e["begin_ns"] for e in shown(stepped, "--view", "epochs")["tables"]["epochs"]]
expect(len(times) == 5 and times == sorted(times), f"expected five epochs by time, got {times}")
expect(sorted(weights(stepped).values()) == sorted(5 * n * PERIOD for n in USUAL), "expected the sums of five epochs")
tailor("db", "trace", f"{stepped}@{at(-109.95)}..{at(-109.9)}", "-o", one)
expect(json.loads(tailor("report", "--json", one).stdout)["samples"]["total"] == sum(USUAL), "expected the epoch in front of a step")
tailor("db", "trace", stepped, "-o", one)
expect(json.loads(tailor("report", "--json", one).stdout)["samples"]["total"] == 5 * sum(USUAL), "expected all epochs around a step")

# ---- functions of one component whose samples weigh differently, as those of threads that began before the recorder lowered its rate
# (which lowered it again for every other epoch)
FACTORS = [1, 32, 1, 0.25, 5]
uneven, unevenly = f"{DIR}/uneven.tlrs", [(USUAL, FACTORS), (USUAL[::-1], [8 * f for f in FACTORS])] * 6
tailor("db", "add", uneven, *[epoch(f"u.{i + 1:06}.tlr", i + 1, now - (70 if i < 9 else 3) * 3600 * SECOND + i * 600 * SECOND, of[0], 86,
                                    of[1]) for i, of in enumerate(unevenly)])
expect({e["tier"] for e in shown(uneven, "--view", "epochs")["tables"]["epochs"]} == {"epoch", "hour"}, "expected hours and epochs")
got_uneven = weights(uneven, "--view", "functions")
for n in range(5):
    w, wanted = got_uneven.get((f"f_{n + 1}", ""), 0), PERIOD * sum(counts[n] * factors[n] for counts, factors in unevenly)
    expect(abs(w / wanted - 1) < 0.09, f"expected {wanted:.0f} of f_{n + 1}, got {w}")
expect(abs(sum(got_uneven.values()) - sum(weights(uneven).values())) < 10, f"expected functions to add up to their component, got {got_uneven}")

# ---- two copies of an ELF file make one; whatever stands in its head, and however its parts lie, the merge ends
def elf(first, second):
    """a head, and .eh_frame of four entries, of which the two named are there and the others are one with what is in front of them"""
    names = b"\0.eh_frame\0"
    sections = [(0,) * 10, (1, 1, 2, 0, 512, 64, 0, 0, 8, 0), (1, 3, 0, 0, 64, len(names), 0, 0, 1, 0)]
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, 128, 0, 64, 56, 0, 64, 3, 2)
    table = b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in sections)
    lengths = {1: [(0, 12), (16, 12), (32, 28)], 2: [(0, 12), (16, 28), (48, 12)]}[first]
    body = bytearray(64)
    for at, length in lengths:
        struct.pack_into("<II", body, at, length, at + 4 if at else 0)
    struct.pack_into("<Q", body, {1: 24, 2: 56}[first], second)
    return [[0, head], [64, names], [128, table], [512, bytes(body)]]

def with_image(name, number, parts):
    path = epoch(name, number, now - (9 - number) * 600 * SECOND, [3, 3, 3, 3, 3], 84)
    t = Trace(None)
    t.add(FILES, record("IMAGE_FILE", 0, "aa", "/usr/bin/host", b"\xaa", 4096, "", parts, 1, 2, 3))
    data = open(path, "rb").read()
    open(path, "wb").write(data + t.parts[0])

elves = f"{DIR}/elves.tlrs"
os.mkdir(f"{elves}.epochs")
with_image("elves.tlrs.epochs/w.000001.tlr", 1, elf(1, 0x1111))
with_image("elves.tlrs.epochs/w.000002.tlr", 2, elf(2, 0x2222))
tailor("db", "trace", elves, "-o", one)
merged = [json.loads(l)["fields"] for l in tailor("dump", "--json", one).stdout.splitlines() if '"IMAGE_FILE"' in l]
whole = b"".join(struct.pack("<IIQ", 12, at + 4 if at else 0, {16: 0x1111, 48: 0x2222}.get(at, 0)) for at in range(0, 64, 16))
expect(len(merged) == 1 and merged[0]["parts"][-1] == {"file_offset": 512, "bytes": {"bytes": 64, "hex": whole.hex()}},
       f"expected one file, with the entries of both, got {merged}")
for i in range(40):
    for n in 1, 2:
        parts = [[at, bytearray(b)] for at, b in elf(n, i)]
        for _ in range(random.randrange(1, 9)):
            b = random.choice(parts)[1]
            b[random.randrange(len(b))] = random.randrange(256)
        parts += [[random.choice([0, 600, 2**64 - 70, 2**64 - 1, 2**63]), bytearray(64)] for _ in range(2)]
        with_image(f"elves.tlrs.epochs/w.{n:06}.tlr", n, [[at, bytes(b)] for at, b in parts])
    p = tailor("db", "trace", elves, "-o", one, status=None)
    expect(p.returncode in (0, 1), f"expected odd parts to be put together, got {p.returncode}: {p.stderr}")

# ---- a mapping is once in one trace: an epoch begins with what is there, and the rings may still have what was mapped just before
mapped = f"{DIR}/mapped.tlrs"
os.mkdir(f"{mapped}.epochs")
def mapping(path, time_ns, address):
    return record("MMAP", PID, address, 4096, 0, 5, path, b"", 1, 2, 3, time_ns=time_ns)
BEFORE = 1
EPOCHS = [mapping("/a", 1100, 0x100000),
          b"".join(mapping(f, BEFORE, at) for f, at in (("/a", 0x100000), ("/b", 0x200000), ("/memfd:c", 0x300000))) +
          mapping("/b", 1200, 0x200000) + mapping("/memfd:c", 1200, 0x300000),
          mapping("/a", BEFORE, 0x100000) + mapping("/a", 1300, 0x100000)]
for i, more in enumerate(EPOCHS, 1):
    epoch(f"mapped.tlrs.epochs/w.{i:06}.tlr", i, now - (9 - i) * 600 * SECOND, [3] * 5, 85, more=more)
tailor("db", "trace", mapped, "-o", one)
told = [json.loads(l) for l in tailor("dump", "--json", one).stdout.splitlines() if '"MMAP"' in l]
told = [(m["fields"]["path"], m["time_ns"]) for m in told]
# memory may have been mapped anew, and a file after the first epoch
expect([path for path, _ in told] == ["/a", "/b", "/memfd:c", "/memfd:c", "/a"], f"expected a mapping once, got {told}")

# ---- damages
DAMAGES = ["DELETE FROM text WHERE id = (SELECT name FROM component LIMIT 1)", "DELETE FROM component WHERE id = 2",
           "DELETE FROM series WHERE id = 1", "DELETE FROM place WHERE id = 1", "DELETE FROM function WHERE id = 1",
           "DELETE FROM process", "DELETE FROM event", "DELETE FROM block WHERE part = 0 AND epoch = (SELECT min(id) FROM epoch)",
           "DELETE FROM epoch WHERE id = (SELECT min(id) FROM epoch)", "UPDATE epoch SET end_ns = begin_ns - 1",
           "UPDATE epoch SET samples = -1", "UPDATE epoch SET lost = -5", "UPDATE block SET crc = crc + 1 WHERE part = 0",
           "UPDATE block SET data = substr(data, 1, length(data) - 3)", "UPDATE block SET rows = rows + 1", "UPDATE block SET bytes = 1 << 50",
           "UPDATE block SET rows = -1 WHERE part = 1", "UPDATE component SET query = 77",
           "UPDATE function SET image = 123456", "UPDATE series SET event = 99",
           "UPDATE place SET series = 100000000", "UPDATE place SET id = 9223372036854775807 WHERE id = 1",
           "UPDATE epoch SET begin_ns = -9223372036854775807, end_ns = -9223372036854775808"]
copy = f"{DIR}/damaged.tlrs"
for sql in DAMAGES:
    tailor("db", "copy", store, copy)
    db = sqlite3.connect(copy)
    db.execute(sql)
    db.commit()
    db.close()
    p = tailor("db", "check", copy, status=3)
    expect(p.stdout, f"expected a line about: {sql}")
    tailor("db", "report", copy, status=None)
    tailor("db", "report", copy, "--view", "functions", status=None)
    tailor("db", "timeline", copy, status=None)
for i in range(30):
    shutil.copy(store, copy)
    with open(copy, "r+b") as f:
        for _ in range(random.randrange(1, 20)):
            f.seek(random.randrange(100, os.path.getsize(copy)))
            f.write(bytes([random.randrange(256)]))
    for verb in ["check"], ["report"], ["timeline"], ["report", "--view", "functions"]:
        p = tailor("db", verb[0], copy, *verb[1:], status=None)
        expect(p.returncode in (0, 1, 3), f"expected a sentence of a damaged file, got {p.returncode}: {p.stderr}")
for content, sentence in [(b"", "no such store"), (b"SQLite format 3\0" + bytes(84), "not a store"), (b"x" * 4096, "not a store")]:
    open(copy, "wb").write(content)
    said = tailor("db", "report", copy, status=1).stderr
    expect(sentence in said, f"expected '{sentence}' of {content[:20]}, got {said}")
db = sqlite3.connect(f"{DIR}/newer.tlrs")
db.execute("PRAGMA application_id = 0x746c7273")
db.execute("PRAGMA user_version = 99")
db.execute("CREATE TABLE t(a)")
db.commit()
expect("newer" in tailor("db", "report", f"{DIR}/newer.tlrs", status=1).stderr, "expected a store of a newer version to be refused")
spooled = f"{DIR}/newer.tlrs.epochs"
os.mkdir(spooled)
for i in range(60):
    shutil.copy(traces[0], f"{spooled}/s.{i + 1:06}.tlr")
said = tailor("db", "add", "--keep", "6", f"{DIR}/newer.tlrs", f"{spooled}/s.000060.tlr", status=1).stderr
expect("12 traces of epochs dropped" in said and "newer" in said and min(os.listdir(spooled)) == "s.000013.tlr",
       f"expected 48 traces to wait for a store that cannot be opened, got {len(os.listdir(spooled))}: {said}")
shutil.copy(store, f"{DIR}/a@b.tlrs")
expect(weights(f"{DIR}/a@b.tlrs") == got and weights(f"{DIR}/a@b.tlrs@-9999d") == got, "expected a store whose name has an @ to be read")
expect("the store itself" in tailor("db", "copy", store, store, status=2).stderr, "expected a copy onto itself to be refused")
cut = f"{DIR}/cut.tlr"
open(cut, "wb").write(open(traces[0], "rb").read()[:-20])
for again in "", "already":
    expect(again in tailor("db", "add", f"{DIR}/cut.tlrs", cut, traces[1], status=1).stderr, "expected a cut trace to be added, and exit 1")
expect(len(shown(f"{DIR}/cut.tlrs", "--view", "epochs")["tables"]["epochs"]) == 2, "expected the trace behind a cut one to be added")
answer = json.loads(tailor("db", "sql", store, "SELECT count(*) AS n FROM epoch", "--json").stdout)
expect(answer["tables"]["rows"] == [{"n": str(len(epochs))}], f"expected the number of epochs, got {answer}")
tailor("db", "sql", store, "DELETE FROM epoch", status=2)
for window in "@tomorrow", "@2026-13-45", "@now..yesterday", "@-1x":
    tailor("db", "report", store + window, status=2)
sys.exit(1 if bad else 0)
