#!/bin/bash
# SPDX-License-Identifier: MIT
# Inclusive shares in call trees are those of `perf record --call-graph dwarf` on the same process at the same time: of main, a sorter
# and others that go through code without symbols, a signal's handler, and two functions that call each other; in seven outputs.
# Long: until shares are decided; live/witness-complete-stacks is in each check.
. tests/live/begin.bash
command -v perf >/dev/null || skip "there is no perf to compare with"
cat >"$dir/test.py" <<'END'
import bisect, collections, json, os, re, subprocess, sys, xml.etree.ElementTree as ET
sys.path.insert(0, "tests")
from evidence import NEARLY, allowed_rate, decide, gather

B, DIR, EVENT = sys.argv[1:]
TRACE, PERF = f"{DIR}/t.tlr", f"{DIR}/perf.data"
FUNCTIONS = ["main", "do_sort", "do_allocate", "do_print", "even", "odd", "in_handler", "do_raise"]
RATE = min(3000, allowed_rate(3000))
WANTED = 7000  # of perf's samples a block: a share of a third has a standard deviation of 0.56 points, and ours half of that
seconds = 1
bad = 0

def record(length):
    """-> perf's samples of the host"""
    p = subprocess.run([f"{B}/tailor", "run", "-q", "-e", EVENT, "-o", TRACE, "--", "perf", "record", "-q", "-e", EVENT, "-F", str(RATE),
                        "--call-graph", "dwarf,8192", "-o", PERF, f"{B}/hosts/calls", str(length)], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"expected exit status 0, got {p.returncode}: {p.stderr}")
    return len(subprocess.run(["perf", "script", "-i", PERF, "-F", "pid", "-G"], capture_output=True, text=True).stdout.splitlines())

def tailor(*arguments):
    return subprocess.run([f"{B}/tailor", *arguments, "--process", str(PID), TRACE], capture_output=True, text=True, check=True).stdout

def inclusive(stacks):
    """(names, weight)... -> name -> share in per cent of those in which it stands"""
    total, sums = 0, collections.Counter()
    for names, weight in stacks:
        total += weight
        for name in set(names):
            sums[name] += weight
    return {name: 100 * sums[name] / total for name in FUNCTIONS}

def of_rows(rows):
    """A tree's rows, of which each one's parent stands before it: an inner one of the same name is within the outer."""
    above, sums = {}, collections.Counter()
    for r in rows:
        names = above.get(r["parent"], frozenset())
        if r["name"] not in names:
            sums[r["name"]] += 100 * r["share"]
        above[r["id"]] = names | {r["name"]}
    return {name: sums[name] for name in FUNCTIONS}

def of_functions(rows):
    shares = {r["name"]: 100 * r["total"] for r in rows}
    return {name: shares.get(name, 0) for name in FUNCTIONS}

def of_filters():
    images = lambda *filter: json.loads(tailor("report", "--view", "images", "--json", *filter))["tables"]["images"]
    weight = lambda *filter: sum(r["weight"] for r in images(*filter))
    whole = weight()
    return {name: 100 * weight("--below", f"function:{name}") / whole for name in FUNCTIONS}

def of_folded():
    for line in tailor("export", "--format", "folded").splitlines():
        stack, weight = line.rsplit(" ", 1)
        yield stack.split(";"), float(weight)

def of_flamegraph():
    """Rectangles that lie over others: (depth, from, width)."""
    rows, whole, open_at = [], 0, {}
    for g in ET.fromstring(tailor("export", "--format", "flamegraph")).iter("{http://www.w3.org/2000/svg}g"):
        if "data-n" not in g.attrib:
            continue
        depth, x, width = int(g.get("data-d")), float(g.get("data-x")), float(g.get("data-w"))
        rows.append((depth, x, width, g.get("data-n")))
    rows.sort()
    whole = max(w for _, _, w, _ in rows)
    flat = []
    for depth, x, width, name in rows:
        parent = open_at.get(depth - 1, [])
        over = next((i for i, (px, pw) in reversed(parent) if px - 0.01 <= x and x + width <= px + pw + 0.01), None)
        flat.append({"id": len(flat), "parent": over, "name": name, "share": width / whole})
        open_at.setdefault(depth, []).append((len(flat) - 1, (x, width)))
    return of_rows(flat)

def of_speedscope():
    d = json.loads(tailor("export", "--format", "speedscope"))
    names = [f["name"] for f in d["shared"]["frames"]]
    for profile in d["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"]):
            yield [names[i] for i in stack], weight

def of_perf():
    text = subprocess.run(["perf", "report", "-i", PERF, "--stdio", "--children", "-g", "none", "-s", "sym", "--no-inline"],
                          capture_output=True, text=True).stdout
    shares = {name: float(share) for share, name in re.findall(r"^ *([0-9.]+)% +[0-9.]+% +\[\.\] (\S+)", text, re.M)}
    return {name: shares.get(name, 0) for name in FUNCTIONS}

def names_in_debug_file(path):
    """(address, name) of the functions that the library's debug file names, where it is installed."""
    build_id = re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout)
    debug = f"/usr/lib/debug/.build-id/{build_id[1][:2]}/{build_id[1][2:]}.debug" if build_id else ""
    said = subprocess.run(["nm", "--defined-only", debug], capture_output=True, text=True).stdout if os.path.exists(debug) else ""
    return [(int(address, 16), name) for address, name in re.findall(r"^(\w+) [tTiIwW] (\S+)$", said, re.M)]

def nameless_of_perf():
    """(Name as ours, those in the debug file) -> perf's share of its own samples, in per cent: a range (readelf) of the C library in which
    no symbol begins (nm)"""
    text = subprocess.run(["perf", "script", "-i", PERF, "-F", "pid,ip", "-G", "--show-mmap-events"], capture_output=True, text=True).stdout
    start, offset, path = re.search(r"MMAP2 .*\[0x(\w+)\(\w+\) @ (\w+) .* r-xp (/\S*/libc[.-]\S*)", text).groups()
    said = subprocess.run(["readelf", "-lW", "--debug-dump=frames", path], capture_output=True, text=True).stdout
    at, address = re.search(r"^ +LOAD +(\w+) +(\w+) .* R E ", said, re.M).groups()
    start = int(start, 16) - int(offset, 16) + int(at, 16) - int(address, 16)
    ranges = sorted((int(a, 16), int(b, 16)) for a, b in re.findall(r" FDE .* pc=(\w+)\.\.(\w+)", said))
    symbols = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True).stdout
    named = sorted(int(line.split()[0], 16) for line in symbols.splitlines())
    ips = [int(ip, 16) - start for ip in re.findall(r"^ *\d+ +([0-9a-f]+) *$", text, re.M)]
    counts = collections.Counter()
    for ip in ips:
        i = bisect.bisect(ranges, (ip, 1 << 64)) - 1
        if i >= 0 and ip < ranges[i][1] and bisect.bisect_left(named, ranges[i][0]) == bisect.bisect_left(named, ranges[i][1]):
            counts[ranges[i]] += 1
    debug = names_in_debug_file(path)
    return {(f"{os.path.basename(path)}+{start:#x}", frozenset(name for at, name in debug if start <= at < end)): 100 * n / len(ips)
            for (start, end), n in counts.items()}

def block(_):
    global PID
    if record(seconds) < WANTED:
        return None
    report = json.loads(subprocess.run([f"{B}/tailor", "report", "--json", TRACE], capture_output=True, check=True).stdout)
    PID = [p["pid"] for p in report["processes"] if p["executable"].endswith("/calls")][-1]
    rows = lambda view: json.loads(tailor("report", "--view", view, "--top", "0", "--json"))["tables"][view]
    ours = {"tree": of_rows(rows("tree")), "callers": of_rows(rows("callers")), "folded": inclusive(of_folded()),
            "flamegraph": of_flamegraph(), "speedscope": inclusive(of_speedscope()), "functions": of_functions(rows("functions")),
            "--below": of_filters()}
    theirs = of_perf()
    far = {f"{name} in {output}": f"{shares[name]:.1f} (perf {theirs[name]:.1f})" for output, shares in ours.items() for name in FUNCTIONS
           if abs(shares[name] - theirs[name]) > 2}
    functions = rows("functions")
    for (name, others), share in nameless_of_perf().items():
        our = sum(100 * r["share"] for r in functions if r["image"] + r["name"] == name or
                  name.startswith(r["image"] + "+") and r["name"] in others)
        if abs(our - share) > 2:
            far[name] = f"{our:.1f} (perf {share:.1f})"
    seen.append((theirs, ours["tree"], far))
    return not far

gather(WANTED + WANTED // 8, lambda s: globals().update(seconds=s) or record(s))
seen = []
if not decide("inclusive shares in seven outputs, and those of functions without symbols, are perf's within two points", block,
              **NEARLY):
    print("\n".join(f"{what}: {shares}" for what, shares in seen[-1][2].items()))
    bad = 1
theirs, ours, _ = seen[0]
print("FIGURE " + ", ".join(f"{name} {ours[name]:.1f} (perf {theirs[name]:.1f})" for name in FUNCTIONS))
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir" "$(plain_event)"
finish
