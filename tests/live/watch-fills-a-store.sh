#!/bin/bash
# SPDX-License-Identifier: MIT
# What `tailor watch` records is in its store, epoch by epoch, operator by operator, as each epoch's own trace says; also after the recorder
# was killed, whose next one adds what is left. Traces beyond those to keep are gone.
# Rights: the recorder's priority and whose processes
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import json, os, signal, subprocess, sys, time
B, DIR = sys.argv[1:]
STORE, FOLDER, PATIENCE_S = f"{DIR}/w.tlrs", f"{DIR}/w.tlrs.epochs", 300
HOST = [f"{B}/engine", "--query", "q3", "--scale", "0.02", "--threads", "1", "--repeat", "10000000"]
bad = 0

def tailor(*arguments):
    return subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True)

def fail(sentence):
    global bad
    bad = 1
    print(sentence)

def parse(r):
    if not r.stdout:
        sys.exit(f"expected JSON of {r.args[1:]}, got exit {r.returncode}: {r.stderr}")
    return json.loads(r.stdout)

def traces():
    return sorted(f for f in os.listdir(FOLDER) if f.endswith(".tlr")) if os.path.isdir(FOLDER) else []

def filled():
    return [f for f in traces() if os.path.getsize(f"{FOLDER}/{f}")] # a recorder that was killed may not have begun to write

def epochs():
    r = tailor("db", "report", STORE, "--view", "epochs", "--json")
    return parse(r).get("tables", {}).get("epochs", []) if r.returncode == 0 else []

def watch(keep, until, how):
    run = subprocess.Popen([f"{B}/tailor", "watch", "-q", "--store", STORE, "--epochs", "500ms", "--keep", str(keep), "--cost", "20%", "--",
                            *HOST], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    begin = time.monotonic()
    while not until() and time.monotonic() - begin < PATIENCE_S:
        time.sleep(0.1)
    os.kill(run.pid, how)
    if how == signal.SIGKILL:
        subprocess.run(["pkill", "-9", "-s", str(run.pid)]) # the host, and who ended an epoch just then
    said = run.communicate()[1]
    if "Traceback" in said or "error" in said:
        fail(f"tailor watch: {said}")
    return said

def hash_joins():
    return tailor("db", "report", STORE, "--json", "--component", "operator:hash join")

watch(1000, lambda: len(epochs()) >= 3 and hash_joins().returncode == 0, signal.SIGTERM)
first = len(traces())
watch(1000, lambda: len(epochs()) >= first + 2 and len(traces()) >= first + 3, signal.SIGKILL)
watch(1000, lambda: len(epochs()) > first + 4, signal.SIGTERM)
tailor("db", "add", STORE, *(f"{FOLDER}/{f}" for f in traces())) # on a busy machine the last one was not added in time
stored, weights, samples = epochs(), {}, []
for name in filled():
    r = tailor("report", "--json", "--mark", "all", f"{FOLDER}/{name}")
    if "shorter than one chunk" in r.stderr:
        continue # killed within its first records
    if r.returncode and "truncated" not in r.stderr and "was cut" not in r.stderr and "killed" not in r.stderr:
        fail(f"tailor report {name}: {r.stderr}")
    page = parse(r)
    samples.append(page["samples"]["total"])
    for c in page["components"]:
        if c["level"] == "operator":
            weights[c["name"]] = weights.get(c["name"], 0) + c["weight"]
if sorted(samples) != sorted(e["samples"] for e in stored):
    fail(f"expected an epoch of each trace in the store, {samples}, got {[e['samples'] for e in stored]}")
r = parse(hash_joins())
got = sum(c["weight"] for c in r["tables"]["components"])
said = sum(w for name, w in weights.items() if name.startswith("hash join"))
if abs(got - said) > 2 * len(stored) or not said:
    fail(f"expected {said} ns of hash joins as all traces together have, got {got}")
print(f"FIGURE {len(stored)} epochs, {sum(samples)} samples, hash joins {said / 1e9:.2f} s in the traces, {got / 1e9:.2f} s in the store")
with open(f"{FOLDER}/{traces()[0].split('.')[0]}.000000.tlr", "w"):
    pass # as of a recorder that was killed before it wrote
said = watch(2, lambda: len(traces()) <= 4, signal.SIGTERM)
if "empty" in said or "dropped" in said:
    fail(f"expected an empty trace to be removed without a word, got {said}")
if not 2 <= len(traces()) <= 4:
    fail(f"expected the newest two traces to be kept, got {traces()}")
r = tailor("db", "check", STORE)
if r.returncode:
    fail(f"tailor db check: {r.stdout}")

# A unit's words are as systemd reads them: each in quotes, in one line.
r = tailor("watch", "--ins", "--store", "/a b\n%i$X\"\\\x7f", "--", "sh", "--install")
line = [l for l in r.stdout.splitlines() if l.startswith("ExecStart=")]
words = r'" watch "--store" "/a b\x0a%%i$$X\"\\\x7f" "--" "sh" "--install"'
if len(line) != 1 or not line[0].startswith('ExecStart="/') or not line[0].endswith(words):
    fail(f"expected a command line that ends with {words}, got {r.stdout}{r.stderr}")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
