#!/bin/bash
# SPDX-License-Identifier: MIT
# Two services that run copies of one file, as containers have them: in each epoch of `tailor watch` the functions of both have their names.
# The store has one row for a function of both, with --per=service one for each, and a trace of all epochs has the names as well.
# EPOCHS: how many.  PAIRS: of so many pairs of windows in which nothing changed `tailor db diff` names a row in a few at most.
. tests/live/begin.bash
EPOCHS=${EPOCHS:-4} PAIRS=${PAIRS:-0}
name=c$$ # --name looks at all processes of the machine
mkdir "$dir/a" "$dir/b"
cat >"$dir/service.c" <<'C'
#define SPIN for (volatile int i = 0; i < 20000; i++)
__attribute__((noinline)) void parse_it(void) { SPIN; }
__attribute__((noinline)) void price_it(void) { SPIN; }
__attribute__((noinline)) void render_it(void) { SPIN; }
__attribute__((noinline)) void log_it(void) { SPIN; }
int main(void)
{
	for (;;) { parse_it(); price_it(); render_it(); log_it(); }
}
C
gcc -O1 -g -Wl,--build-id -o "$dir/a/$name" "$dir/service.c" && cp "$dir/a/$name" "$dir/b/$name" || exit 1
OTEL_SERVICE_NAME=shop "$dir/a/$name" &
shop=$!
OTEL_SERVICE_NAME=cart "$dir/b/$name" &
cart=$!
disown -a # whose end is not to be told
trap 'kill -9 $shop $cart 2>/dev/null; rm -rf "$dir"' EXIT
cat >"$dir/test.py" <<'END'
import json, os, random, signal, subprocess, sys, time
B, DIR, NAME, EPOCHS, PAIRS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
STORE, PATIENCE_S, ENOUGH = f"{DIR}/s.tlrs", 300 + 4 * EPOCHS, 60
FUNCTIONS = ("parse_it", "price_it", "render_it", "log_it")
SERVICES = {"shop": f"{DIR}/a/{NAME}", "cart": f"{DIR}/b/{NAME}"}
bad = 0

def fail(sentence):
    global bad
    bad = 1
    print(sentence)

def ask(*arguments):
    r = subprocess.run([f"{B}/tailor", "db", *arguments], capture_output=True, text=True)
    try:
        return json.loads(r.stdout)
    except ValueError:
        sys.exit(f"expected JSON of {r.args[1:]}, got exit {r.returncode}: {r.stdout[:200]}{r.stderr[:200]}")

def epochs():
    return ask("report", STORE, "--view", "epochs", "--json")["tables"]["epochs"] if os.path.exists(STORE) else []

def watch():
    run = subprocess.Popen([f"{B}/tailor", "watch", "-q", "--store", STORE, "--epochs", "1s", "--keep", "1000", "--cost", "20%",
                            "--name", f"^{NAME}$"], stderr=subprocess.PIPE, text=True)
    begin = time.monotonic()
    while time.monotonic() - begin < PATIENCE_S and run.poll() is None:
        time.sleep(0.5)
        traces = len([f for f in os.listdir(STORE + ".epochs") if f.endswith(".tlr")]) if os.path.isdir(STORE + ".epochs") else 0
        if traces > EPOCHS:
            break
    run.send_signal(signal.SIGTERM)
    said = run.communicate()[1]
    if run.returncode:
        sys.exit(f"tailor watch: exit {run.returncode}: {said}")

def is_named(row): # a function of the program; "cNNN" and "cNNN+0x1139" are code without a symbol
    return row != NAME and not row.startswith(NAME + "+")

def look_at_epochs():
    looked = complete = 0
    per_weight = {e["begin_ns"]: e["samples"] / e["weight"] for e in epochs() if e["weight"]} # the rate changes between them
    for service, path in SERVICES.items():
        table = ask("timeline", STORE, "--view", "functions", "--process", path, "--top", "0", "--json")["tables"]["points"]
        rows = {}
        for point in table:
            if point["weight"]:
                rows.setdefault(point["begin_ns"], {})[point["name"]] = point["weight"]
        for begin, row in rows.items():
            samples = sum(row.values()) * per_weight[begin]
            nameless = sum(w for name, w in row.items() if not is_named(name)) * per_weight[begin]
            if nameless >= 1 and nameless > samples / 50: # the dynamic linker's first instructions have none, either
                fail(f"{service}, epoch at {begin}: {nameless:.0f} of {samples:.0f} samples have no name: {sorted(row)}")
            if samples >= ENOUGH: # all four have as many: one is missing by chance in one of 10^7
                looked += 1
                complete += all(f in row for f in FUNCTIONS)
    print(f"FIGURE epochs of a service with {ENOUGH} samples or more: {looked}, with all functions: {complete}")
    if complete < looked:
        fail("some of them lack functions")
    return looked

def look_at_rows():
    plain = ask("report", STORE, "--view", "functions", "--top", "0", "--json")["tables"]["functions"]
    per = ask("report", STORE, "--view", "functions", "--top", "0", "--json", "--per=service")["tables"]["functions"]
    for f in FUNCTIONS:
        rows, each = [r for r in plain if r["name"] == f], [r for r in per if r["name"] == f]
        if len(rows) != 1 or rows[0]["image"] != NAME or rows[0]["paths"] != 2:
            fail(f"expected one row of {f} in {NAME}, of 2 paths, got {rows}")
        if sorted(r["service"] for r in each) != sorted(SERVICES):
            fail(f"expected a row of {f} for each service, got {each}")
        if rows and abs(sum(r["weight"] for r in each) - rows[0]["weight"]) > 1e-6 * rows[0]["weight"]:
            fail(f"rows of services do not add up to that of all: {each}, {rows}")

def look_at_trace():
    whole = f"{DIR}/all.tlr"
    subprocess.run([f"{B}/tailor", "db", "trace", STORE, "-o", whole], check=True, stdout=subprocess.DEVNULL)
    lines = subprocess.run([f"{B}/tailor", "report", "--samples", whole], capture_output=True, text=True, check=True).stdout.splitlines()
    for service, path in SERVICES.items():
        rows = [r[8] for r in (line.split("\t") for line in lines[1:]) if r[3] == "user" and r[7] == path]
        nameless = sum(not is_named(r) for r in rows)
        print(f"a trace of all epochs: {nameless} of {len(rows)} samples of {service} have no name")
        if not rows or 50 * nameless > len(rows):
            fail(f"{service}: no names in a trace of all epochs")

def iso(ns):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ns / 1e9)) + f".{ns % 10**9 // 10**6:03d}Z"

# Windows of a quarter of all epochs each, which have none in common.
def compare_windows():
    begins = sorted(int(e["begin_ns"], 0) if isinstance(e["begin_ns"], str) else e["begin_ns"] for e in epochs())[1:-1]
    length, named, chance = len(begins) // 4, 0, random.Random(1)
    for pair in range(PAIRS):
        a = chance.randrange(len(begins) - 2 * length)
        b = chance.randrange(a + length, len(begins) - length)
        windows = [f"{STORE}@{iso(begins[n])[:19]}Z..{iso(begins[n + length])[:19]}Z" for n in (a, b)]
        how = "--per=service" if pair % 2 else "--top=0"
        rows = ask("diff", "--view", "functions", "--json", how, *windows)["tables"].get("changes", [])
        rows = [r for r in rows if r["significant"]]
        named += bool(rows)
        if rows:
            print(f"named from {windows[0]} to {windows[1]}: {[(r['name'], round(r.get('times') or 0, 2), r['there']) for r in rows]}")
        if [r for r in rows if r["there"] != "both" and any(f in r["name"] for f in FUNCTIONS)]:
            fail("a function has its name on one side only")
    print(f"FIGURE db diff named a row in {named} of {PAIRS} pairs of windows without a change (1 of 20 is nominal)")
    if named > PAIRS / 20 + 5 * (PAIRS / 20 * 0.95) ** 0.5: # chance exceeds it once in 10^5 tests
        fail("that is more than chance explains")

watch()
whole = ask("report", STORE, "--view", "epochs", "--json")
print(f"{len(epochs())} epochs, {whole['samples']} samples")
looked = look_at_epochs()
look_at_rows()
look_at_trace()
if PAIRS:
    compare_windows()
if not bad and looked < EPOCHS:
    print(f"skipped, because this machine gave {ENOUGH} samples in only {looked} epochs of a service")
    sys.exit(77)
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir" "$name" "$EPOCHS" "$PAIRS"
finish
