#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples in the kernel have the kernel function's name, in a recording of page faults and in one of system calls: the name that
# /proc/kallsyms has for each address, with the shares that perf sees of the same work, in every view and export.  What they are
# attributed to is the same as without names.
. tests/live/begin.bash
[ "$(plain_event)" = task-clock ] || skip "the kernel may not be sampled by this user"
grep -q '^[89a-f]' /proc/kallsyms || skip "this user may not see the kernel's addresses"
command -v perf >/dev/null || skip "perf is not installed"
cat >"$dir/test.py" <<'END'
import bisect, collections, json, re, struct, subprocess, sys
sys.path.insert(0, "tests")
from evidence import SURE, allowed_rate, decide, gather, skip

B, DIR = sys.argv[1:]
TRACE, DATA, HOST = f"{DIR}/t.tlr", f"{DIR}/p.data", "kernel_work"
WANTED = 2000  # samples in the kernel
bad = 0

def fail(what):
    global bad
    print(what)
    bad = 1

def run(*command, check=True):
    p = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if check and p.returncode:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}: {p.stderr}")
    return p.stdout

def tailor(*arguments):
    return run(f"{B}/tailor", *arguments)

def record(work, seconds):
    """The same work for each.  (Not in one run: where one of two recordings has build ids in its records, the kernel marks those of the
    other as if they had, too, and perf 6.1 falls over them.)  -> names of the kernel's functions with their samples: ours, perf's"""
    rate, host = str(allowed_rate(5000)), [f"{B}/hosts/{HOST}", work, str(10 * seconds)]
    for command in (["perf", "record", "-q", "-B", "-e", "task-clock", "-F", rate, "-g", "--kernel-callchains", "-o", DATA, *host],
                    [f"{B}/tailor", "run", "-q", "-r", rate, "-e", "task-clock", "-o", TRACE, "--", *host]):
        p = subprocess.run(command, capture_output=True, text=True)
        if p.returncode:
            print(f"no evidence: {command[0]}: exit {p.returncode}: {p.stderr.strip()[-200:]}")
            return None  # the kernel has lowered the rate that it allows meanwhile, or perf fails
    ours = collections.Counter(s["function"] for s in samples() if s["mode"] == "kernel")
    theirs = collections.Counter()
    for line in run("perf", "script", "-i", DATA, "--comms", HOST, "-G", "-F", "ip,sym", check=False).splitlines():
        m = re.match(r"\s*([0-9a-f]{16}) (\S+)", line)
        if m and int(m[1], 16) >> 63:
            theirs[m[2]] += 1
    return ours, theirs

def ways():
    """Of the kernel's samples, the share that each of its functions has with all that it called: ours, perf's."""
    inside, theirs, nr = collections.Counter(), collections.Counter(), 0
    for sample in run("perf", "script", "-i", DATA, "-F", "ip,sym", check=False).split("\n\n"):
        frames = re.findall(r"^\s*([0-9a-f]{16}) (\S+)", sample, re.M)
        if frames and int(frames[0][0], 16) >> 63:
            nr += 1
            theirs.update({name for _, name in frames})
    total = sum(int(s["weight"]) for s in samples() if s["mode"] == "kernel")
    run(f"{B}/tailor", "export", "--overwrite", "--format", "folded", "-o", f"{DIR}/folded", TRACE)
    with open(f"{DIR}/folded") as f:
        for line in f:
            stack, count = line.rsplit(None, 1)
            for name in set(stack.split(";")):
                inside[name] += int(count)
    return [(name, inside[name] / total, n / nr) for name, n in theirs.most_common(8)]

def samples():
    head, *rows = (line.split("\t") for line in tailor("report", "--samples", TRACE).splitlines())
    return [dict(zip(head, r)) for r in rows]

def read_kallsyms():
    names = collections.defaultdict(set)
    with open("/proc/kallsyms") as f:
        for line in f:
            address, kind, name, *module = line.split()
            if kind in "tTwW":
                names[int(address, 16)].add((name, module[0] if module else "[kernel]"))
    return names

def enough(work):
    def of(seconds):
        global length, recorded
        length, recorded = seconds, record(work, seconds)
        return min(sum(c.values()) for c in recorded) if recorded else 0
    return of

# ---- each sample by itself: its name is one that the kernel has for its address
def check_each():
    names = read_kallsyms()
    starts = sorted(names)
    nr = wrong = nameless = 0
    for s in samples():
        if s["mode"] != "kernel":
            continue
        nr += 1
        at = bisect.bisect_right(starts, int(s["ip"], 16))
        if s["function"] == "[kernel]":
            nameless += 1
        elif not at or (s["function"], s["image"]) not in names[starts[at - 1]]:
            wrong += 1
            if wrong <= 5:
                fail(f"{s['ip']} is {s['function']} of {s['image']}, expected one of {names[starts[at - 1]] if at else 'none'}")
    # (code that came after the kernel had been started, or has gone since, may have none)
    if nameless > 0.01 * nr:
        fail(f"expected names for 99 % of {nr} samples in the kernel, {nameless} have none")
    print(f"FIGURE {nr} samples in the kernel, {nr - wrong - nameless} with the name that /proc/kallsyms has")

# ---- every view and export has the name
def check_views(ours):
    top = ours.most_common(1)[0][0]
    functions = {}
    for beside in [], ["--view", "events"]:  # where samples are summed up at once, and where each is looked at
        rows = json.loads(tailor("report", "--view", "functions", *beside, "--json", "--top", "0", TRACE))["tables"]["functions"]
        counts = {(r["name"], r["image"]): r["samples"] for r in rows}
        if not functions:
            functions = counts
        elif counts != functions:
            fail(f"functions summed up and one by one differ: {set(counts.items()) ^ set(functions.items())}")
    kernel = {n: c for (n, image), c in functions.items() if c and image.startswith("[") and image not in ("[vdso]", "[unknown]")}
    if kernel != dict(ours):
        fail(f"--view functions: expected those of the kernel in --samples, got others: {set(kernel.items()) ^ set(ours.items())}")
    for view in [], ["--view", "functions"], ["--view", "tree"], ["--view", "callees"], ["--view", "callers"]:
        text = tailor("report", *view, "--top", "0", TRACE) # a function that all kinds of code call is in no table's first rows
        if top not in text:
            fail(f"report {' '.join(view)}: expected {top}, got {text[:800]}")
    if top not in tailor("report", "--json", TRACE):
        fail(f"report --json: expected {top}")
    for form in "folded", "flamegraph", "speedscope", "pprof", "perfetto", "firefox", "csv", "json":
        run(f"{B}/tailor", "export", "--overwrite", "--format", form, "-o", f"{DIR}/out", TRACE)
        with open(f"{DIR}/out", "rb") as f:
            out = f.read()
        if out[:2] == b"\x1f\x8b":
            import gzip
            out = gzip.decompress(out)
        if top.encode() not in out:
            fail(f"export --format {form}: expected {top} in {out[:300]}")

# ---- without the record, as in a trace of an earlier version (and: a reader skips what it does not know)
def crc32c(data):
    crc = 0xffffffff
    for b in data:
        crc = CRC[(crc ^ b) & 255] ^ crc >> 8
    return crc ^ 0xffffffff
CRC = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
    CRC.append(n)

def forget(path, to):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at = forgotten = 0
    while at < len(data):
        magic, kind, flags, stored = struct.unpack_from("<IHHI", data, at)
        begin, end = at + 32, at + 32 + stored
        here = data.find(b"\x95\xcc\x8f", begin, end)  # [143, time, pid, tid, functions]
        if kind == 1 and here >= 0:
            data[here + 2] = 0xfe
            forgotten += 1
            struct.pack_into("<I", data, at + 28, crc32c(data[at:at + 28] + data[begin:end]))
        at = end
    with open(to, "wb") as f:
        f.write(data)
    return forgotten

def check_attribution():
    run(f"{B}/tailor", "run", "-q", "--no-compress", "-r", str(allowed_rate(5000)), "-o", TRACE, "--", f"{B}/engine", "--query", "fig9",
        "--scale", "0.2")
    bare = f"{DIR}/bare.tlr"
    if forget(TRACE, bare) != 1:
        return fail("expected one record of kernel functions in the trace")
    said = {}
    for name, path in ("with", TRACE), ("without", bare):
        head, *rows = (line.split("\t") for line in tailor("report", "--samples", path).splitlines())
        image, function, mode = (head.index(x) for x in ("image", "function", "mode"))
        said[name] = []
        for r in rows:
            if r[mode] == "kernel":
                if name == "without" and r[function] != "[kernel]":
                    fail(f"without the record: expected [kernel], got {r}")
                r[function] = r[image] = ""
            said[name].append(r)
        for view in "components", "pipelines", "threads":
            said[name] += tailor("report", "--view", view, "--top", "0", "--level", "operator", "--json", path).splitlines()
    for with_names, without in zip(said["with"], said["without"]):
        if with_names != without:
            return fail(f"attribution differs: with names {with_names}, without {without}")
    if len(said["with"]) != len(said["without"]):
        return fail(f"expected {len(said['without'])} samples and lines with names, got {len(said['with'])}")
    print(f"FIGURE {len(rows)} samples of the engine are attributed as without names")

for work in "faults", "calls":
    gather(WANTED, enough(work))
    ours, theirs = recorded
    if sum(n for name, n in theirs.items() if not name.startswith("[")) < 0.9 * sum(theirs.values()):
        skip("perf itself has no names for the kernel here")
    check_each()
    check_views(ours)
    seen, seen_ways = [], []
    def block(_):
        # Two recordings of the same work differ by chance: of 2000 samples in 30 functions alike by 0.06 (total variation), and less where
        # few functions have most.  Where both processors are busy, caches make another such difference.  Names of other functions, or
        # none, make it 1, in each block.
        both = record(work, length)
        if not both or min(sum(c.values()) for c in both) < WANTED:
            return None
        a, b = both
        distance = sum(abs(a[f] / sum(a.values()) - b[f] / sum(b.values())) for f in a.keys() | b.keys()) / 2
        seen.append(distance)
        # a share's standard deviation is a point at 2000 samples; without callers these functions have their own samples only
        way = ways()
        seen_ways.append(max(abs(our - their) for _, our, their in way))
        if seen_ways[-1] > 0.1:
            print(f"way: {way}")
        return distance < 0.2 and seen_ways[-1] < 0.1
    bad |= not decide(f"{work}: the kernel's functions have the shares that perf sees, by themselves and with those that they call", block,
                      wrong=SURE)
    print(f"FIGURE {work}: distances to perf {', '.join(f'{d:.3f}' for d in seen + seen_ways)}; {ours.most_common(3)}, "
          f"perf {theirs.most_common(3)}")
check_attribution()
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
