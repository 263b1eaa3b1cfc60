#!/bin/bash
# SPDX-License-Identifier: MIT
# What befalls a recorder of months: its machine's clock is set ahead and back, what adds an epoch is killed for want of memory, its disk is
# full, the tailor command is replaced while it records, its store is of another version, and bytes of the store rot.  Where samples can be
# kept, all of them are in the store in the end, but for less than a second of their host's time; what happened is said.
. tests/live/begin.bash
trap 'umount "$dir/full" 2>/dev/null; rm -rf "$dir"' EXIT
cat >"$dir/step.c" <<'END'
/* CLOCK_REALTIME is ahead by the seconds that $STEP_FILE says. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
	const char *path = getenv("STEP_FILE");
	FILE *f = id == CLOCK_REALTIME && path ? fopen(path, "re") : NULL;
	int ret = (int)syscall(SYS_clock_gettime, id, t);
	long s;

	if (f && fscanf(f, "%ld", &s) == 1)
		t->tv_sec += s;
	if (f)
		fclose(f);
	return ret;
}
END
${CC:-cc} -shared -fPIC -o "$dir/step.so" "$dir/step.c" || exit 1
cat >"$dir/test.py" <<'END'
import datetime, glob, json, os, random, re, shutil, signal, sqlite3, subprocess, sys, time
B, DIR = sys.argv[1:]
PATIENCE_S, DAMAGES, KILLS = 300, 20, 8
SPOOLED_MOST = 48
HOST = [f"{B}/engine", "--query", "q3", "--scale", "0.02", "--threads", "1", "--repeat", "10000000"]
random.seed(7)
bad = 0

def fail(sentence):
    global bad
    bad = 1
    print(sentence)

def tailor(*arguments):
    return subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True)

def wait_for(condition):
    begin = time.monotonic()
    while not (found := condition()) and time.monotonic() - begin < PATIENCE_S:
        time.sleep(0.02)
    return found # a child is there for a moment

class Watch:
    """one recorder, and its host, which it starts"""
    def __init__(self, name, *options, tailor=f"{B}/tailor", environment={}, folder=None):
        self.folder = folder or f"{DIR}/{name}"
        os.makedirs(self.folder, exist_ok=True)
        self.store, self.said_in = f"{self.folder}/w.tlrs", f"{DIR}/{name}.said"
        self.run = subprocess.Popen([tailor, "watch", "--store", self.store, "--keep", "1000", "--cost", "20%", *options, "--", *HOST],
                                    stdout=subprocess.DEVNULL, stderr=open(self.said_in, "a"), env={**os.environ, **environment})
    def traces(self):
        return sorted(glob.glob(f"{self.store}.epochs/*.tlr"))
    def said(self):
        return open(self.said_in).read()
    def children(self, is_host):
        for pid in open(f"/proc/{self.run.pid}/task/{self.run.pid}/children").read().split():
            try:
                if (b"engine\0--query" in open(f"/proc/{pid}/cmdline", "rb").read()) == is_host:
                    return int(pid)
            except OSError:
                pass
        return 0
    def child(self):
        """that ends an epoch; 0: there is none"""
        return self.children(False)
    def end(self):
        times = open(f"/proc/{self.children(True)}/stat").read().rsplit(")", 1)[1].split()[11:13]
        self.host_s = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
        self.run.send_signal(signal.SIGTERM)
        if self.run.wait() not in (0, 128 + signal.SIGTERM): # the host's, which it ends
            fail(f"tailor watch: expected exit 0, got {self.run.returncode}: {self.said()}")

def epochs(store):
    r = tailor("db", "report", store, "--view", "epochs", "--json")
    return json.loads(r.stdout).get("tables", {}).get("epochs", []) if r.returncode == 0 else []

def has_operators(store):
    r = tailor("db", "report", store, "--json")
    return r.returncode == 0 and any(c["place"] for c in json.loads(r.stdout).get("tables", {}).get("components", []))

def samples_of(trace):
    r = tailor("report", "--json", "--mark", "all", trace)
    return json.loads(r.stdout)["samples"]["total"] if r.stdout else 0

def times_of(trace):
    return [json.loads(line)["time_ns"] for line in tailor("dump", "--json", trace).stdout.splitlines() if '"SAMPLES"' in line]

def expect_all(w, name):
    """each trace's samples are in the store, and of the processor time that its host took there is less than a second that is in none"""
    tailor("db", "add", w.store, *w.traces())
    samples, stored = [samples_of(t) for t in w.traces()], epochs(w.store)
    if sorted(n for n in samples if n) != sorted(e["samples"] for e in stored if e["samples"]):
        fail(f"{name}: expected epochs of {samples}, got {[e['samples'] for e in stored]}")
    weight = json.loads(tailor("db", "report", w.store, "--json").stdout)["weight"] / 1e9
    if weight < w.host_s - 1:
        fail(f"{name}: expected all but a second of the host's {w.host_s:.2f} s of processor time in the store, got {weight:.2f}")
    print(f"FIGURE {name}: {sum(samples)} samples in {len(stored)} epochs, of {w.host_s:.2f} s of processor time {weight:.2f}")
    if tailor("db", "check", w.store).returncode:
        fail(f"{name}: {tailor('db', 'check', w.store).stdout}")
    return stored

# The clock, an hour ahead and two back.
step = f"{DIR}/step"
def set_clock(seconds):
    with open(f"{step}.new", "w") as f:
        f.write(str(seconds))
    os.rename(f"{step}.new", step)
set_clock(0)
w = Watch("clock", "--epochs", "600s", environment={"LD_PRELOAD": f"{DIR}/step.so", "STEP_FILE": step})
for number, seconds in enumerate([3600, -3600]):
    wait_for(lambda: len(w.traces()) > number and times_of(w.traces()[-1]))
    time.sleep(0.5)
    set_clock(seconds)
    wait_for(lambda: len(w.traces()) > number + 1)
w.end()
stored = expect_all(w, "clock steps")
for sentence in ["clock went 3600 s ahead", "clock went 7200 s back"]:
    if sentence not in w.said():
        fail(f"expected '{sentence}' to be said, got {w.said()}")
begun = sorted(datetime.datetime.fromisoformat(e["begin"]) for e in stored)
if len(stored) != 3 or any(abs((b - a).total_seconds() - 3600) > PATIENCE_S for a, b in zip(begun, begun[1:])):
    fail(f"expected epochs an hour ahead and an hour back, got {begun}")

# What ends an epoch, or adds it, is killed; at random moments.
w = Watch("killed", "--epochs", "500ms")
kills = 0
while kills < KILLS and wait_for(w.child):
    time.sleep(random.uniform(0, 0.2))
    child = w.child()
    if child:
        os.kill(child, signal.SIGKILL)
        kills += 1
        wait_for(lambda: w.child() != child)
w.end()
if kills < KILLS:
    fail(f"expected {KILLS} folds to be killed, got {kills}")
expect_all(w, f"{kills} folds killed")
if w.said().count("was killed by signal 9") < kills - 1: # a child may have just ended
    fail(f"expected {kills} kills to be said, got {w.said()}")

# A disk that is full from the begin, has room later, and is full again.
if os.geteuid() == 0 and os.path.isdir(f"{DIR}") and subprocess.run(["sh", "-c", f"mkdir {DIR}/full && mount -t tmpfs -o size=24m tmpfs "
                                                                     f"{DIR}/full"], capture_output=True).returncode == 0:
    def fill():
        with open(f"{DIR}/full/fill", "wb", buffering=0) as f:
            try:
                while f.write(bytes(4096)):
                    pass
            except OSError:
                pass
    fill()
    w = Watch("full", "--epochs", "500ms", folder=f"{DIR}/full")
    wait_for(lambda: w.said().count("No space left") >= 3 or w.run.poll() is not None)
    if w.run.poll() is not None:
        fail(f"expected the recorder to begin on a full disk, got {w.said()}")
    os.unlink(f"{DIR}/full/fill")
    if not wait_for(lambda: len([e for e in epochs(w.store) if e["samples"]]) >= 2):
        fail("expected epochs in the store once its disk has room")
    before = len(w.traces())
    fill()
    wait_for(lambda: len(w.traces()) > before + 3)
    os.unlink(f"{DIR}/full/fill")
    before = len(epochs(w.store))
    if not wait_for(lambda: len(epochs(w.store)) > before + 2):
        fail("expected epochs in the store once its disk has room again")
    w.run.send_signal(signal.SIGTERM)
    w.run.wait()
    if tailor("db", "check", w.store).returncode:
        fail(f"full disk: {tailor('db', 'check', w.store).stdout}")
    lost = [(int(a), int(b)) for a, b in re.findall(r"lost: (\d+) samples, (\d+) other records", w.said())]
    if not sum(a + b for a, b in lost):
        fail(f"expected what was lost to be said, got {w.said()}")
    print(f"FIGURE full disk: {len(epochs(w.store))} epochs in the store; said to be lost: {sum(a for a, _ in lost)} samples")
    subprocess.run(["umount", f"{DIR}/full"])

# The command is replaced by the next one while it records, first by half of it; then its recorder is killed, and that of the next goes on.
os.mkdir(f"{DIR}/installed")
for name in ["tailor", "libtailor.so"]:
    shutil.copy2(f"{B}/{name}", f"{DIR}/installed/{name}")
w = Watch("upgrade", "--epochs", "500ms", tailor=f"{DIR}/installed/tailor")
wait_for(lambda: len(epochs(w.store)) >= 2 and has_operators(w.store)) # damages are planted there
with open(f"{B}/tailor", "rb") as f, open(f"{DIR}/installed/half", "wb") as to:
    to.write(f.read(os.path.getsize(f"{B}/tailor") // 2))
os.chmod(f"{DIR}/installed/half", 0o755)
os.rename(f"{DIR}/installed/half", f"{DIR}/installed/tailor")
before = len(epochs(w.store))
if not wait_for(lambda: len(epochs(w.store)) > before + 2):
    fail(f"expected a recorder to go on with the command that it began with, got {w.said()}")
host = w.children(True)
w.run.kill()
os.kill(host, signal.SIGKILL) # which would go on without it
w.run.wait()
shutil.copy2(f"{B}/tailor", f"{DIR}/installed/new")
os.rename(f"{DIR}/installed/new", f"{DIR}/installed/tailor")
before = len(w.traces())
w = Watch("upgrade", "--epochs", "500ms", tailor=f"{DIR}/installed/tailor")
wait_for(lambda: len(epochs(w.store)) > before + 2)
w.end()
tailor("db", "add", w.store, *w.traces())
samples, stored = [samples_of(t) for t in w.traces()], epochs(w.store)
if sorted(n for n in samples if n) != sorted(e["samples"] for e in stored if e["samples"]):
    fail(f"upgrade: expected epochs of {samples}, got {[e['samples'] for e in stored]}")
print(f"FIGURE upgrade cut midway: {sum(samples)} samples in {len(stored)} epochs")

# A store of a version to come is left as it is, which is said, and traces are kept, but not without end.
good = f"{DIR}/good.tlrs"
shutil.copy2(w.store, good)
db = sqlite3.connect(w.store)
version = db.execute("PRAGMA user_version").fetchone()[0]
db.execute(f"PRAGMA user_version = {version + 1}")
db.commit()
db.close()
bytes_before = open(w.store, "rb").read()
for number in range(60):
    shutil.copy2(w.traces()[0], f"{w.store}.epochs/20000101T000000-1.{number + 1:06}.tlr")
w = Watch("upgrade", "--epochs", "300ms", "--keep", "6", tailor=f"{DIR}/installed/tailor")
wait_for(lambda: "use a newer tailor" in w.said() and "failed (exit status" in w.said())
w.end()
if not 6 < len(w.traces()) <= SPOOLED_MOST or "traces of epochs dropped" not in w.said():
    fail(f"expected at most {SPOOLED_MOST} traces beside a store that cannot be opened, got {len(w.traces())}: {w.said()}")
if open(w.store, "rb").read() != bytes_before:
    fail("expected a store of another version to be left as it is")
if "use a newer tailor" not in w.said() or "failed (exit status" not in w.said():
    fail(f"expected the version to be said, got {w.said()}")

# Damages, each in a copy: bytes within a page, pages, the end, and rows that name what is not there.
def overwrite(path, at, bytes_):
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(bytes_)
def execute(path, sql):
    db = sqlite3.connect(path)
    db.execute(sql)
    db.commit()
    db.close()
size = os.path.getsize(good)
of = lambda sql: sqlite3.connect(f"file:{good}?mode=ro", uri=True).execute(sql).fetchone()[0]
blobs = [r[0] for r in sqlite3.connect(f"file:{good}?mode=ro", uri=True).execute("SELECT rowid FROM block WHERE length(data) >= 8")]
def flip_blob(path, row, at):
    db = sqlite3.connect(path)
    data = bytearray(db.execute("SELECT data FROM block WHERE rowid = ?", (row,)).fetchone()[0])
    data[int(at * (len(data) - 1))] ^= 1 << random.randrange(8)
    db.execute("UPDATE block SET data = ? WHERE rowid = ?", (bytes(data), row))
    db.commit()
    db.close()
damages = [(f"bit of a block at {at}", lambda p, at=at: flip_blob(p, random.choice(blobs), at)) for at in (0, 0.3, 0.6, 0.9, 1)]
damages += [(f"page {n} of zeros", lambda p, n=n: overwrite(p, (n - 1) * 4096, bytes(4096)))
            for n in (1, of("SELECT rootpage FROM sqlite_schema WHERE name = 'block'"),
                      of("SELECT rootpage FROM sqlite_schema WHERE name = 'epoch'"),
                      of("SELECT rootpage FROM sqlite_schema WHERE name = 'text'"))]
damages += [("cut at half", lambda p: os.truncate(p, size // 2 // 4096 * 4096)), ("cut by a page", lambda p: os.truncate(p, size - 4096)),
            ("other first bytes", lambda p: overwrite(p, 0, b"NotASQLite"))]
damages += [(sql, lambda p, sql=sql: execute(p, sql)) for sql in (
    "DELETE FROM text WHERE id = (SELECT name FROM function WHERE name != 0 LIMIT 1)",
    "DELETE FROM series WHERE id = (SELECT series FROM place LIMIT 1)", "DELETE FROM function WHERE id = (SELECT max(id) FROM function)",
    "DELETE FROM component WHERE id = (SELECT component FROM series WHERE component != 0 LIMIT 1)",
    "DELETE FROM block WHERE rowid = (SELECT min(rowid) FROM block WHERE part = 0)", "UPDATE block SET crc = crc + 1 WHERE part = 0",
    "UPDATE epoch SET end_ns = begin_ns - 1 WHERE id = (SELECT max(id) FROM epoch)",
    "DELETE FROM epoch WHERE id = (SELECT min(id) FROM epoch)")]
found = 0
for what, plant in damages:
    copy = f"{DIR}/damaged.tlrs"
    for f in glob.glob(f"{copy}*"):
        os.unlink(f)
    shutil.copy2(good, copy)
    plant(copy)
    r = tailor("db", "check", copy)
    if r.returncode in (1, 3) and r.stdout + r.stderr: # it cannot be opened; it has damages
        found += 1
    else:
        fail(f"expected `db check` to find '{what}', got {r.returncode}: {r.stdout}{r.stderr}")
print(f"FIGURE {found} of {len(damages)} planted damages found")
if len(damages) < DAMAGES:
    fail(f"expected {DAMAGES} damages, got {len(damages)}")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
