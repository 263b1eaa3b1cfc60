# SPDX-License-Identifier: MIT
"""What tailor says of a trace: its samples with nodes, the frames of their stacks, and the bytes of those."""
import json
import re
import struct
import subprocess
import tempfile

MAGIC = struct.pack("<Q", 0x7E57C0DEDEADBEA7)
ID = (1 << 64) - 1  # JSON's numbers are signed
ELSEWHERE = re.compile(r"^\(.*\)$")  # the name of a class of work


class Sample:
    __slots__ = ("time_ns", "pid", "tid", "node", "node_id", "query", "method", "reason", "generated", "function", "in_executor")

    def is_named(self):
        return bool(self.node)

    def in_class(self):
        return bool(ELSEWHERE.match(self.node))


def split(cell):
    """name#id, as --samples prints it."""
    name, _, number = cell.rpartition("#")
    return (name, int(number)) if number.isdigit() else (cell, 0)


def samples(tailor, trace, *options):
    p = subprocess.Popen([tailor, "report", "--samples", "--mark", "all", *options, trace], stdout=subprocess.PIPE, text=True, errors="replace")
    heads = {name: n for n, name in enumerate(p.stdout.readline().rstrip("\n").split("\t"))}
    if "time_ns" not in heads:
        raise RuntimeError(f"tailor report --samples {trace} prints no samples")
    node, query = heads.get("node"), heads.get("query")
    for line in p.stdout:
        f = line.rstrip("\n").split("\t")
        s = Sample()
        s.time_ns, s.pid, s.tid = int(f[0]), int(f[1]), int(f[2])
        s.node, s.node_id = split(f[node]) if node else ("", 0)
        s.query = split(f[query])[0] if query else ""
        s.method, s.reason, s.function = f[heads["method"]], f[heads["reason"]], f[heads["function"]]
        s.generated = f[heads["image"]] == "[jit]"
        s.in_executor = None
        yield s
    if p.wait():
        raise RuntimeError(f"tailor report --samples {trace}: exit {p.returncode}")


def report(tailor, trace):
    return json.loads(subprocess.run([tailor, "report", "--json", "--mark", "all", "--top", "0", trace], capture_output=True, text=True,
                                     check=True).stdout)


def faults_of_store(tailor, trace):
    """What a store of the trace's samples says otherwise than the trace does: queries, and samples of none.  Texts that differ in the length
    of a list are one query in a store, so the shares of all are compared."""
    with tempfile.TemporaryDirectory() as folder:
        store = folder + "/s.tlrs"
        subprocess.run([tailor, "db", "add", store, trace], check=True)
        ask = lambda *words: json.loads(subprocess.run([tailor, *words, "--view", "queries", "--json"], capture_output=True, text=True).stdout)
        stored, told = ask("db", "report", store)["tables"]["queries"], ask("report", "--mark", "all", trace)["tables"]["queries"]
        damage = subprocess.run([tailor, "db", "check", store], capture_output=True, text=True).stdout
    named = [sum(q["share"] for q in rows if q[name] != "(no query)") for rows, name in ((stored, "name"), (told, "query"))]
    if not 0 < len(stored) <= len(told) or abs(named[0] - named[1]) > 1e-3 or "nothing is damaged" not in damage:
        return [f"expected the queries of {trace} in a store, {told}, got {stored}; {damage}"]
    return []


def tree_paths(report, level):
    """{component's id: path of names from the root}, by the edges of the plan, whose nodes are of this level."""
    names = {c["id"] & ID: c["name"] for c in report["components"] if c["level"] == level}
    upper = {e["from"] & ID: e["to"] & ID for e in report["edges"] if e["level"] == level}
    paths = {}
    for n in names:
        path, at = [], n
        while at in names and len(path) < 100:
            path.append(names[at])
            at = upper.get(at)
        paths[n] = tuple(reversed(path))
    return paths


def function_range(binary, name):
    """[start, end) of an exported function, as an offset."""
    out = subprocess.run(["readelf", "-W", "--dyn-syms", binary], capture_output=True, text=True, check=True).stdout
    start, size = re.search(r"^\s*\d+: ([0-9a-f]+)\s+(\d+) FUNC .* %s$" % name, out, re.M).groups()
    return int(start, 16), int(start, 16) + int(size)


def load_bias(pid, binary):
    """What is added to addresses of the binary in a process (in all processes of a server: they are forked)."""
    for line in open(f"/proc/{pid}/maps"):
        if line.rstrip("\n").endswith(binary):
            place = line.split()
            return int(place[0].split("-")[0], 16) - int(place[2], 16)
    raise RuntimeError(f"{binary} is not mapped in process {pid}")


def in_function(tailor, trace, start, end):
    """{(time, tid)} of samples whose stack has a frame in [start, end), and of those whose stack does not reach its root."""
    p = subprocess.Popen([tailor, "unwind", "--frames", trace], stdout=subprocess.PIPE, text=True)
    inside, cut, at = set(), set(), None
    for line in p.stdout:
        if line[0] == "\t":
            if line[1] == "[":
                cut.add(at)
            elif start <= int(line, 16) < end:
                inside.add(at)
        elif line != "\n":
            time_ns, _, tid = line.split()[:3]
            at = (int(time_ns), int(tid))
    p.wait()
    return inside, cut


def witnesses(tailor, trace):
    """Yields (time, pid, tid, the node whose address is innermost on the stack or None)."""
    p = subprocess.Popen([tailor, "dump", "--json", "--samples", "--full", trace], stdout=subprocess.PIPE)
    for line in p.stdout:
        if not line.startswith(b'{"sample"'):
            continue
        s = json.loads(line)
        stack = bytes.fromhex(s.get("stack", ""))
        found, at = None, stack.find(MAGIC)
        while at >= 0 and found is None:
            if at % 8 == 0 and at + 24 <= len(stack):
                node, inverse = struct.unpack_from("<QQ", stack, at + 8)
                if node and node == inverse ^ 0xFFFFFFFFFFFFFFFF:
                    found = node
            at = stack.find(MAGIC, at + 1)
        yield s["time_ns"], s["pid"], s["tid"], found
    p.wait()


def objects(tailor, trace):
    """Yields OBJECT and OBJECT_END records as dump prints them."""
    p = subprocess.Popen([tailor, "dump", "--json", "--full", trace], stdout=subprocess.PIPE)
    for line in p.stdout:
        if line.startswith((b'{"record": "OBJECT"', b'{"record": "OBJECT_END"')):
            yield json.loads(line)
    p.wait()
