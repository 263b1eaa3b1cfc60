# SPDX-License-Identifier: MIT
"""planted_causes.py BUILD OUT: what `--view stalls` says of the real machine code of tests/hosts/planted.c, compiled and generated, on
traces as a processor would give them: each loop is walked through its instructions, every one takes a quarter of a cycle, and the ones
that its name promises stall as long as given below and have their events.  No counter is needed, so this runs everywhere;
tests/hardware/culprits.sh asks a real processor."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, "tests")
from trace_file import RECORDS, Trace, record  # noqa: E402

B, OUT = sys.argv[1:3]
HOST = f"{B}/hosts/planted"
EVENTS = ["cycles", "instructions", "cache-misses", "L1-dcache-load-misses", "dTLB-load-misses", "branch-misses", "L1-icache-load-misses"]
STEPS, SCALE = 40000, 1000  # instructions that are walked, and how often
LOAD, STORE = r"^(mov|add)\S* +.*\(%r[^)]*\),", r"^mov\S* +%r\w+,.*\("
# loop: instruction that stalls, cycles, its events; a branch that is drawn by lot is a mispredict every second time
PLANTED = {
    "chase-l2": (LOAD, 14, {"L1-dcache-load-misses": 1}),
    "chase-l3": (LOAD, 50, {"L1-dcache-load-misses": 1}),
    "chase-memory": (LOAD, 250, {"L1-dcache-load-misses": 1, "cache-misses": 1, "dTLB-load-misses": 0.05}),
    "strided-lines": (LOAD, 20, {"L1-dcache-load-misses": 1, "cache-misses": 0.5}),
    "gather": (LOAD, 30, {"L1-dcache-load-misses": 1, "cache-misses": 0.9, "dTLB-load-misses": 0.02}),
    "scatter": (STORE, 30, {"cache-misses": 0.9, "dTLB-load-misses": 0.02}),
    "page-stride": (LOAD, 110, {"L1-dcache-load-misses": 1, "dTLB-load-misses": 1}),
    "random-branch": (None, 18, {"branch-misses": 1}),
    "random-switch": (None, 18, {"branch-misses": 1}),
    "divide": (r"^div", 26, {}),
    "divide-floats": (r"^divsd", 14, {}),
    "roots": (r"^sqrtsd", 18, {}),
    "multiply-chain": (r"^imul", 2.75, {}),
    "add-chain": (r"^addsd", 3.75, {}),
    "store-forward": (r"^mov +\(%r", 13, {}),
    "jit-divide": (r"^div", 26, {}),
    "jit-chase": (LOAD, 250, {"L1-dcache-load-misses": 1, "cache-misses": 1, "dTLB-load-misses": 0.05}),
    "jit-sweep": (r"^jmp", 12, {"L1-icache-load-misses": 1}),
    "clean": (r"^$", 0, {}),
    "jit-clean": (r"^$", 0, {}),
}
OWN = re.compile(r"^(cmp\S* +%r\w+,%r|sub|dec|add)")  # the loop decides the branch behind it, not its data


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def disassemble(*objdump):
    rows = re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(.*?)\s*$", run("objdump", "-w", *objdump), re.M)
    return [(int(a, 16), bytes.fromhex(b), re.sub(r" +#.*", "", t)) for a, b, t in rows]


def generated(name):
    """What the host generates and registers, as one piece."""
    trace, dump, code = f"{OUT}/made.tlr", f"{OUT}/made.dump", f"{OUT}/made.bin"
    run(f"{B}/tailor", "run", "-q", "-e", "task-clock", "-o", trace, "--", HOST, name, "0")
    run(f"{B}/tailor", "export", "--overwrite", "--format", "jitdump", "-o", dump, trace)
    data, parts = open(dump, "rb").read(), []
    at = struct.unpack_from("<I", data, 8)[0]
    while at < len(data):  # perf's jitdump-specification.txt
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0:
            address, nr = struct.unpack_from("<QQ", data, at + 32)
            parts.append((address, data[at + size - nr:at + size]))
        at += size
    parts.sort()
    open(code, "wb").write(b"".join(b for _, b in parts))
    return disassemble("-D", "-b", "binary", "-m", "i386:x86-64", code), [len(b) for _, b in parts]


def walk(insns, stalls, cycles, events):
    """By event: how many at each address."""
    index = {address: i for i, (address, _, _) in enumerate(insns)}
    found = {e: {} for e in EVENTS}
    at, before, pending = 0, "", 0.0
    for _ in range(STEPS):
        address, code, text = insns[at]
        add = lambda event, n: found[event].__setitem__(address, found[event].get(address, 0) + n)  # noqa: E731
        add("cycles", 0.25 + pending)
        add("instructions", 1)
        pending = 0.0
        if stalls and re.search(stalls, text):
            pending = cycles
            for e, n in events.items():
                add(e, n)
        jump = re.match(r"^j(\w+) +([0-9a-f]+)", text)
        nxt = at + 1
        if jump:
            to = index[int(jump[2], 16)]
            if jump[1] == "mp":
                nxt = to
            elif not stalls and not OWN.search(before):
                nxt = to if random.random() < 0.5 else nxt
                if random.random() < 0.5:
                    pending = cycles
                    for e, n in events.items():
                        found[e][insns[nxt][0]] = found[e].get(insns[nxt][0], 0) + n
            elif to <= at:
                nxt = to
        before, at = text, nxt if nxt < len(insns) else 0
        if text.startswith("ret"):
            at = 0
    return found


def write_trace(path, function, insns, lengths, found):
    start, code = insns[0][0] + 0x10000000, b"".join(b for _, b, _ in insns)
    header = record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]])
    periods = []
    for number, event in enumerate(EVENTS):
        period = max(1, int(sum(found[event].values()) * SCALE / 20000)) if number < 2 else 100
        periods.append(period)
        header += record("EVENT", 0, number, event, event, 0, number, period, 0, 0, 0, 0, 0, "cpu", 0)
    trace = Trace(header)
    loads, at = b"", 0
    for length in lengths:
        loads += record("LOAD", 1000, 1000, 1000, start + at, start + at, length, 1, function, code[at:at + length])
        at += length
    trace.add(RECORDS, record("PROCESS", 1000, 1, "/usr/bin/host", "host") + loads)
    for number, event in enumerate(EVENTS):
        ips = [a + 0x10000000 for a, n in sorted(found[event].items()) for _ in range(round(n * SCALE / periods[number]))]
        trace.add_ips(ips, periods[number], number)
    trace.write(path)


def main():
    random.seed(1)
    os.makedirs(OUT, exist_ok=True)
    loops = {name: (cause, function) for name, cause, function in
             (line.split() for line in run(HOST).splitlines())}
    code = {}
    for name in PLANTED:
        if name.startswith("jit-"):
            code[name] = generated(name)
        else:
            insns = disassemble("-d", f"--disassemble={loops[name][1]}", HOST)
            code[name] = insns, [sum(len(b) for _, b, _ in insns)]
    wrong = 0
    for processor in ["none"] + ["skylake"] * bool(shutil.which("llvm-mca") and shutil.which("llvm-mc")):
        right = 0
        for name, (stalls, cycles, events) in PLANTED.items():
            cause, function = loops[name]
            insns, lengths = code[name]
            path = f"{OUT}/{name}.tlr"
            write_trace(path, function, insns, lengths, walk(insns, stalls, cycles, events))
            tables = json.loads(run(f"{B}/tailor", "report", "--view", "stalls", "--view", "cpi", "--json", "--processor", processor,
                                    path))["tables"]
            causes = [r for r in tables["summary"] if r["cause_key"] not in ("execution", "not_analyzed", "unexplained")]
            named = [f["causes"] for f in tables["functions"] if f["causes"]]
            first = causes[0]["cause_key"] if named else "none"
            right += first == cause
            if first != cause:
                wrong += 1
                print(f"{name}, processor {processor}: expected {cause}, got {first}: " +
                      "; ".join(f"{r['cause_key']} {r['at_least']:.2f}-{r['at_most']:.2f}" for r in causes[:4]))
        print(f"FIGURE processor {processor}: {right} of {len(PLANTED)} loops have their planted cause first, or none where they are clean")
    return 1 if wrong else 0


sys.exit(main())
