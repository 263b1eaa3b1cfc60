#!/bin/bash
# SPDX-License-Identifier: MIT
# Code that a host has registered in memory of a file (V8's builtins lie in node itself) keeps its names after a cut, as in a recording
# without one: what was mapped before hides no code that was registered since; and one trace of all epochs has each mapping once.
. tests/live/begin.bash
command -v node >/dev/null || skip "node is missing"
cat >"$dir/test.py" <<'END'
import json, os, re, signal, subprocess, sys, time
B, DIR = sys.argv[1:]
PATIENCE_S, WANTED = 300, 3

def records(trace):
    for line in subprocess.run([f"{B}/tailor", "dump", "--json", trace], capture_output=True, text=True, check=True).stdout.splitlines():
        r = json.loads(line)
        yield r["record"], r["time_ns"], r["fields"]

def is_file(path):
    return path.startswith("/") and path != "//anon" # so the kernel calls memory of none

def hidden(trace):
    """registered code, and how much of it lies in mappings that the trace has as later ones"""
    loads, maps = [], []
    for record, time_ns, f in records(trace):
        if record == "LOAD":
            loads.append((f["code_addr"], time_ns, f["name"]))
        elif record == "MMAP" and is_file(f["path"]):
            maps.append((f["address"], f["address"] + f["bytes"], time_ns))
    in_files = [(at, name, [t for a, z, t in maps if a <= at < z], time_ns) for at, time_ns, name in loads]
    return [n for _, n, ts, _ in in_files if ts], [n for _, n, ts, time_ns in in_files if any(t > time_ns for t in ts)]

run = subprocess.Popen([f"{B}/tailor", "run", "-q", "--epochs", "300ms", "-o", f"{DIR}/n.tlr", "--", "node", "-e",
                        "for (;;) JSON.stringify({ a: [1, 2, 3] }).split('1')"], stderr=subprocess.PIPE, text=True)
def traces():
    return sorted(f"{DIR}/{f}" for f in os.listdir(DIR) if re.fullmatch(r"n\.[0-9]{6}\.tlr", f))
end = time.monotonic() + PATIENCE_S
def complete():
    """of which the next one's begin is written"""
    return traces()[:-2]
while time.monotonic() < end and sum(bool(hidden(t)[0]) for t in complete()) < WANTED:
    time.sleep(0.3)
run.send_signal(signal.SIGTERM)
said = run.communicate()[1]
bad, nr = 0, 0
for i, trace in enumerate(traces()):
    there, lost = hidden(trace)
    nr += bool(there)
    if lost and i: # in the first, as it happens
        print(f"epoch {i + 1}: expected no mapping that is later than the code that it has, got {len(lost)} of {len(there)}: {lost[:5]}")
        bad = 1
if not nr:
    print(f"skipped, because this node registers no code in its own file: {said}")
    sys.exit(77)
if nr < WANTED:
    print(f"expected registered code in {WANTED} epochs, got {nr} of {len(traces())}: {said}")
    bad = 1
os.mkdir(f"{DIR}/box.epochs")
for trace in traces():
    os.link(trace, f"{DIR}/box.epochs/{os.path.basename(trace)}")
subprocess.run([f"{B}/tailor", "db", "trace", f"{DIR}/box", "-o", f"{DIR}/one.tlr"], stdout=subprocess.DEVNULL, check=True)
there, lost = hidden(f"{DIR}/one.tlr")
maps = []
for record, _, f in records(f"{DIR}/one.tlr"):
    if record == "COMM" and f["exec"]: # may have been heard after a cut, which had seen what it mapped
        maps = []
    if record == "MMAP" and is_file(f["path"]):
        maps.append((f["address"], f["bytes"], f["path"]))
if lost or len(maps) > len(set(maps)):
    print(f"one trace: expected each mapping once, none of them later than its code, got {maps}, and as later {len(lost)} of {len(there)}: "
          f"{lost[:5]}")
    bad = 1
print(f"FIGURE registered code in node itself: {len(there)} objects in {nr} epochs")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
