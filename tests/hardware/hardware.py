# SPDX-License-Identifier: MIT
"""What only a machine's own counters can show.  hardware.py BUILD rungs|faults|misses|branches|spacing|batches

rungs     every way to sample that this machine allows, on the engine's q1, q3 and q6: how many samples, how many of them on operators
faults    samples of page faults point at instructions that access memory, at the address that their registers give (this needs no
          counters: it judges addresses, registers, code bytes and the judge itself)
misses    samples of load misses point at loads, at that address (Tailored Profiling, EuroSys 2021, section 6.3)
branches  samples of branch misses point at branches or at the compare before one (the same section)
spacing   how far samples of a fixed period are from it in time (the same section), and that twice the period is twice as far
batches   samples that Intel's processors collect many at a time (PEBS in batches) have times within the recording, and operators

Exit 0: passed; 1: failed; 77: this machine has nothing of it.  Lines that begin with FIGURE are shown by tests/run.sh.
"""
import collections
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from evidence import decide, gather, skip  # noqa: E402

B, WHAT = sys.argv[1:3]
DEVICES = "/sys/bus/event_source/devices"
QUERIES = ["q1", "q3", "q6"]
OPERATORS_LEAST, OPERATORS_OF_BLOCK, RUNG_SAMPLES = 0.98, 0.97, 400
REGISTERS = ("ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 r9 r10 r11 r12 r13 r14 r15").split()
LEEWAY_NS = 1000000
SAMPLES_LEAST = 100  # of what is judged
CHUNK, NOPS = 32, 16  # bytes of code that are disassembled at an address; what keeps the next one apart


def figure(text):
    print("FIGURE " + text)


def read(path):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return None


def max_precise():
    for pmu in ("cpu", "cpu_core"):
        text = read(f"{DEVICES}/{pmu}/caps/max_precise")
        if text is not None:
            return int(text)
    return 0


def has_ibs():
    return os.path.exists(f"{DEVICES}/ibs_op")


class Refused(Exception):
    pass


def record(trace, options, query, engine=("--seconds", "1"), threads=2):
    """Record the engine; Refused with the recorder's sentence when it cannot be sampled so."""
    command = [f"{B}/tailor", "run", "-o", trace, *options, "--", f"{B}/engine", "--query", query, "--threads", str(threads), *engine]
    p = subprocess.run(command, capture_output=True, text=True)
    said = [line for line in p.stderr.splitlines() if line.startswith("tailor run: ") and " samples of " not in line]
    if p.returncode in (1, 2) and said:
        raise Refused(said[-1].removeprefix("tailor run: "))
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}\n{p.stderr}")
    return [line.removeprefix("tailor run: ") for line in said]


def report(trace):
    return json.loads(subprocess.run([f"{B}/tailor", "report", "--json", trace], capture_output=True, text=True, check=True).stdout)


def share_on_operators(trace):
    """Of the run phase: what the kernel does for threads that begin or wait is on none, and the more, the busier the machine."""
    out = subprocess.run([f"{B}/tailor", "report", "--view", "reasons", "--json", trace], capture_output=True, text=True, check=True).stdout
    rows = {r["reason"]: r for r in json.loads(out)["tables"]["reasons"]}
    on = rows.pop("(attributed)", {"share": 0})["share"]
    return on / max(1e-9, on + sum(r["share"] * (1 - r["kernel"]) for r in rows.values()))


def dump(trace):
    """Records, and samples, one dictionary each."""
    p = subprocess.Popen([f"{B}/tailor", "dump", "--json", "--full", "--samples", trace], stdout=subprocess.PIPE, text=True)
    for line in p.stdout:
        yield json.loads(line)
    if p.wait() != 0:
        sys.exit(f"tailor dump {trace}: exit {p.returncode}")


# ----------------------------------------------------------------------------------------------------------- code bytes

class Code:
    """The bytes at an address: of files that were mapped, and of objects that a JIT announced."""

    def __init__(self):
        self.ranges = []  # (start, end, bytes, offset of start in them)
        self.files = {}

    def add(self, r):
        f = r["fields"]
        if r["record"] == "MMAP" and os.path.isfile(f["path"]):  # not //anon, [vdso]
            if f["path"] not in self.files:
                try:
                    with open(f["path"], "rb") as file:
                        self.files[f["path"]] = file.read()
                except OSError:
                    self.files[f["path"]] = b""
            self.ranges.append((f["address"], f["address"] + f["bytes"], self.files[f["path"]], f["file_offset"]))
        elif r["record"] == "IMAGE" and f["bytes"]["bytes"] > 64:
            self.add_object(bytes.fromhex(f["bytes"]["hex"]))

    def add_object(self, elf):
        """Sections of a relocatable object whose addresses its JIT has filled in."""
        at, = struct.unpack_from("<Q", elf, 40)
        size, nr = struct.unpack_from("<HH", elf, 58)
        for i in range(nr):
            if at + (i + 1) * size > len(elf):
                break
            _, kind, flags, address, offset, length = struct.unpack_from("<IIQQQQ", elf, at + i * size)
            if kind == 1 and flags & 4 and address and offset + length <= len(elf):  # PROGBITS, EXECINSTR
                self.ranges.append((address, address + length, elf, offset))

    def at(self, address):
        for start, end, data, offset in reversed(self.ranges):  # the latest first
            if start <= address < end:
                here = offset + address - start
                return data[here:here + min(CHUNK, end - address)]
        return b""


class Instruction:
    def __init__(self, text, length):
        words = text.split()
        while words and words[0] in ("rep", "repz", "repnz", "lock", "notrack", "bnd", "data16", "cs", "rex.W"):
            words.pop(0)
        self.text, self.length = text, length
        self.name = words[0] if words else ""
        operands = " ".join(words[1:]).split("#")[0].split("<")[0].strip()
        self.operands = [o.strip() for o in re.split(r",(?![^(]*\))", operands)] if operands else []

    def is_branch(self):
        return self.name.startswith("j") or self.name.startswith("call") or self.name.startswith("ret") or self.name.startswith("loop")

    def is_compare(self):
        return self.name.startswith(("cmp", "test", "ucomis", "comis", "vucomis", "vcomis", "bt", "ptest", "vptest"))

    def memory(self):
        """Indices of the operands in memory."""
        if self.name.startswith(("lea", "nop", "prefetch")):
            return []
        return [i for i, o in enumerate(self.operands)
                if "(" in o or re.match(r"^%[fg]s:", o) or re.match(r"^\*?-?0x[0-9a-f]+$", o) and not self.is_branch()]

    def accesses_memory(self):
        return self.memory() or self.name.startswith(("push", "pop", "call", "ret", "leave", "enter"))

    def loads(self):
        if self.name.startswith(("pop", "ret", "leave", "movs", "lods", "cmps", "scas")):
            return True
        where = self.memory()
        if not where:
            return False
        last = where[0] == len(self.operands) - 1
        store = last and re.match(r"^v?mov|^set|^st|^v?extract|^vpextr|^pextr|^fst|^fist|^vpscatter", self.name)
        return not store or len(self.operands) == 1 and not self.name.startswith(("set", "fst", "fist"))

    def addresses(self, ip, registers):
        """Where its operands in memory are; none where that is not a matter of registers."""
        if "gather" in self.name or "scatter" in self.name:
            return []
        operands = [self.address(self.operands[i], ip, registers) for i in self.memory()]
        return [a for a in operands + self.stack(registers) if a is not None]

    def stack(self, registers):
        """Where on the stack it writes or reads, beside its operands: one of two places where an operand is in memory, too."""
        if self.name.startswith(("push", "call")):
            return [registers["sp"] - 8]
        return [registers["sp"]] if self.name.startswith(("pop", "ret")) else []

    def address(self, operand, ip, registers):
        operand = re.sub(r"^%[de]s:", "", operand.lstrip("*"))
        m = re.match(r"^(-?0x[0-9a-f]+)?\(([^,)]*),?([^,)]*),?([^,)]*)\)$", operand)
        if not m:
            return None
        displacement, base, index, scale = m.groups()
        total = int(displacement or "0", 16)
        if base == "%rip":
            total += ip + self.length
        elif base:
            total += value(registers, base)
        if index and index not in ("%riz", "%eiz"):
            total += value(registers, index) * int(scale or "1")
        return total % 2**64


def value(registers, name):
    name = name.lstrip("%")
    if re.match(r"^r\d+d$", name):
        return registers[name[:-1]] & 0xffffffff
    if name.startswith("r") and not name[1:].isdigit():
        return registers[name[1:]]
    if name.startswith("e"):
        return registers[name[1:]] & 0xffffffff
    return registers[name]


def disassemble(code, addresses):
    """address -> [the instruction there, the one behind it]"""
    places, blob = [], b""
    for a in addresses:
        here = code.at(a)
        if here:
            places.append((len(blob), a))
            blob += here.ljust(CHUNK, b"\x90") + b"\x90" * NOPS
    with tempfile.NamedTemporaryFile() as f:
        f.write(blob)
        f.flush()
        text = subprocess.run(["objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "--no-show-raw-insn", f.name],
                              capture_output=True, text=True, check=True).stdout
    lines = [(int(m[1], 16), m[2].strip()) for m in re.finditer(r"^\s*([0-9a-f]+):\t(.*)$", text, re.M)]
    where = {offset: i for i, (offset, _) in enumerate(lines)}
    found = {}
    for offset, a in places:
        i = where.get(offset)
        if i is not None and i + 2 < len(lines):
            found[a] = [Instruction(lines[n][1], lines[n + 1][0] - lines[n][0]) for n in (i, i + 1)]
    return found


def self_check():
    """The judge is judged first: instructions that it must tell apart."""
    for text, loads, branch, compare in [
            ("mov    0x8(%rax,%rbx,4),%rcx", True, False, False), ("mov    %rcx,0x8(%rax)", False, False, False),
            ("add    %rcx,(%rax)", True, False, False), ("lea    (%rax,%rbx,1),%rcx", False, False, False),
            ("jne    0x40", False, True, False), ("ret", True, True, False), ("call   *0x10(%rax)", True, True, False),
            ("cmp    (%rax),%rcx", True, False, True), ("test   %rax,%rax", False, False, True),
            ("nopw   0x0(%rax,%rax,1)", False, False, False), ("rep stos %rax,%es:(%rdi)", False, False, False),
            ("vmovdqu %ymm0,(%rdi)", False, False, False), ("vpaddq (%rdi),%ymm1,%ymm0", True, False, False),
            ("push   %rbp", False, False, False), ("pop    %rbp", True, False, False), ("imul   $0x5,(%rdi),%eax", True, False, False)]:
        i = Instruction(text, 4)
        if (i.loads(), i.is_branch(), i.is_compare()) != (loads, branch, compare):
            sys.exit(f"the judge says of '{text}': loads {i.loads()}, branch {i.is_branch()}, compare {i.is_compare()}")
    i = Instruction("mov    -0x8(%r12,%rbx,4),%rcx", 5)
    if i.addresses(0, {"r12": 1000, "bx": 10}) != [1000 + 40 - 8]:
        sys.exit("the judge cannot add")
    if Instruction("push   0xd8(%rsp)", 7).addresses(0, {"sp": 1000}) != [1000 + 0xd8, 1000 - 8]:
        sys.exit("the judge sees one of the two places that a push of memory touches")


def judge(trace, wanted):
    """User samples for which wanted(sample) holds, with their registers and instructions; and those without code bytes."""
    code, samples = Code(), []
    for r in dump(trace):
        if "sample" in r:
            if r["mode"] == "user" and wanted(r):
                samples.append(r)
        elif r["record"] in ("MMAP", "IMAGE"):
            code.add(r)
    found = disassemble(code, sorted({s["ip"] for s in samples}))
    for s in samples:
        s["registers"] = {REGISTERS[int(n)]: v for n, v in s["registers"].items()}
    return [(s, *found[s["ip"]]) for s in samples if s["ip"] in found], sum(s["ip"] not in found for s in samples)


def worst(bad):
    return "; ".join(f"{n} at {text}" for text, n in collections.Counter(bad).most_common(5))


# --------------------------------------------------------------------------------------------------------------- checks

def rung(trace, name, options, query):
    seconds = 0.5

    # A block is a recording of more than 400 samples.  Where 98 % are on operators, 97 % of them are in 95 blocks of 100 (binomial); where 95 %
    # are, in 4.  If the tag is not read, two thirds of the samples are on none.
    def block(nr):
        nonlocal seconds
        said = record(trace, options, query, ("--seconds", str(seconds)))
        r = report(trace)
        share, e = share_on_operators(trace), r["events"][0]
        losses = ", ".join(f"{x['reason']} {x['count']}" for x in r["losses"]) or "none"
        if nr == 0:
            figure(f"{name:<34} {query}  {r['samples']['total']:>6} samples  {100 * share:5.1f} % on operators  period {e['period']} "
                   f"{e['unit']}  losses: {losses}")
            for sentence in said if query == QUERIES[0] else []:
                figure(f"    {sentence}")
        if r["run"]["samples"] <= RUNG_SAMPLES:
            seconds *= 2
            return None
        return share >= OPERATORS_OF_BLOCK

    return decide(f"{name}, {query}: {100 * OPERATORS_LEAST:.0f} % of the run phase are on operators", block)


def rungs(directory):
    trace = os.path.join(directory, "t.tlr")
    levels = range(2 if has_ibs() else max_precise(), -1, -1)
    ways = [(f"INST_RETIRED:PREC_DIST:precise={n}", []) for n in levels if n and max_precise()]
    ways += [(f"cycles:precise={n}", []) for n in levels]
    ways += [("task-clock", []), ("auto", ["--sampler", "signal"]), ("auto", ["--sampler", "timer"])]
    bad = had = 0
    figure(f"max_precise {max_precise()}, IBS {'yes' if has_ibs() else 'no'}")
    for event, options in ways:
        name = " ".join([event] + options)
        for query in QUERIES:
            try:
                holds = rung(trace, name, ["-e", event] + options, query)
            except Refused as refused:
                figure(f"{name}: not had: {refused}")
                break
            had += 1
            bad += not holds
    if not had:
        skip("nothing here can be sampled")
    return bad


def batches(directory):
    """Their times are perf's own clock's, which the recorder converts: between those that it reads itself, and in the run phase."""
    trace, options, bad = os.path.join(directory, "t.tlr"), ["-e", "cycles:u", "--stack", "0"], 0
    try:
        record(trace, options, QUERIES[0], ("--seconds", "0.1"))
    except Refused as refused:
        skip(f"cycles cannot be sampled here: {refused}")
    records = list(dump(trace))
    if not any("PEBS in batches" in r["fields"]["sentence"] for r in records if r.get("record") == "NOTICE"):
        skip("this machine has no PEBS, or the kernel does not say how its clock comes from the processor's")
    begin, end = (next(r["time_ns"] for r in records if r.get("record") == which) for which in ("HEADER", "END"))
    times = [r["time_ns"] for r in records if "sample" in r or r.get("record") in ("FORK", "EXIT")]
    early, late = sum(t < begin - LEEWAY_NS for t in times), sum(t > end + LEEWAY_NS for t in times)
    figure(f"batches: {len(times)} times, {early} before the recording, {late} behind it")
    for query in QUERIES:
        bad += not rung(trace, "in batches", options, query)
    return bad + early + late


def elsewhere(samples, at_right_kind):
    """Samples at instructions of another kind; those whose address can be computed from registers; of these, those that differ."""
    wrong, compared, differ = [], 0, []
    for s, here, _ in samples:
        if not at_right_kind(here):
            wrong.append(here.text)
            continue
        places = here.addresses(s["ip"], s["registers"])
        most = 4096 if "xsave" in here.name or "xrstor" in here.name else 64
        if places:
            compared += 1
            if not any((s["address"] - a) % 2**64 < most for a in places):
                differ.append(here.text)
    return wrong, compared, differ


def faults(directory):
    self_check()
    trace, bad = os.path.join(directory, "t.tlr"), 0
    for query in QUERIES:
        samples, unknown = [], 0

        def some(seconds):
            nonlocal samples, unknown
            record(trace, ["-e", "page-faults@1", "--registers", "all", "--stack", "0"], query,
                   engine=("--repeat", "1", "--scale", str(0.02 * seconds)))
            # a fault on the instruction itself is a fetch
            samples, unknown = judge(trace, lambda s: not 0 <= s["address"] - s["ip"] < 16)
            return len(samples)

        try:
            gather(SAMPLES_LEAST, some)
        except Refused as refused:
            skip(str(refused))
        wrong, compared, differ = elsewhere(samples, Instruction.accesses_memory)
        figure(f"page faults of {query}: {len(samples)} samples, {len(wrong)} not at an access to memory; {compared} addresses computed "
               f"from registers, {len(differ)} differ; {unknown} without code")
        # each of them, but for code that has no file, of which there are three or four places (the kernel's vdso)
        if compared < len(samples) // 2 or wrong or differ or unknown > len(samples) // 20:
            print(f"{query}: expected all at accesses of memory, at the address of their registers; got: {worst(wrong)} {worst(differ)}")
            bad += 1
    return bad


def misses(directory):
    self_check()
    trace, bad, had = os.path.join(directory, "t.tlr"), 0, 0
    for event, wanted in miss_events():
        for query in QUERIES:
            samples, unknown = [], 0

            def some(seconds):
                nonlocal samples, unknown
                record(trace, ["-e", event, "--registers", "all", "--stack", "0"], query, ("--seconds", str(seconds)))
                samples, unknown = judge(trace, wanted)
                return len(samples)

            try:
                gather(SAMPLES_LEAST, some)
            except Refused as refused:
                figure(f"{event}: not had: {refused}")
                break
            had += 1
            wrong, compared, differ = elsewhere(samples, Instruction.loads)
            figure(f"{event} of {query}: {len(samples)} samples of load misses, {len(wrong)} not at a load; {compared} addresses "
                   f"computed from registers, {len(differ)} differ; {unknown} without code")
            # registers are those behind the instruction: where it overwrites its own address they cannot tell
            if wrong:
                print(f"{query}: {worst(wrong)}")
                bad += 1
    if not had:
        skip("this processor's counters are not precise here (max_precise 0, no IBS): their samples are behind the load")
    return bad


def miss_events():
    """Events whose samples are at the load that missed, and which of them are."""
    if has_ibs():
        # of union perf_mem_data_src: mem_op LOAD, and mem_lvl neither N/A nor a hit in L1
        return [("cycles:pp", lambda s: s.get("data_source", 0) & 2 and s["data_source"] >> 5 & 0x3fff not in (0, 1, 0xa))]
    if max_precise() >= 2:
        return [(f"MEM_LOAD_RETIRED:{level}_MISS:pp@1009", lambda s: True) for level in ("L1", "L2", "L3")]
    return []


def branches(directory):
    self_check()
    trace, bad, precise = os.path.join(directory, "t.tlr"), 0, max_precise() >= 2
    event = "BR_MISP_RETIRED:ALL_BRANCHES:pp@1009" if precise else "branch-misses@1009"
    for query in QUERIES:
        samples, unknown = [], 0

        def some(seconds):
            nonlocal samples, unknown
            record(trace, ["-e", event, "--stack", "0"], query, ("--seconds", str(seconds)))
            samples, unknown = judge(trace, lambda s: True)
            return len(samples)

        try:
            gather(SAMPLES_LEAST, some)
        except Refused as refused:
            skip(f"{refused}")
        wrong = [f"{a.text}; {b.text}" for _, a, b in samples if not a.is_branch() and not (a.is_compare() and b.is_branch())]
        share = 100 * (1 - len(wrong) / max(1, len(samples)))
        figure(f"{event} of {query}: {len(samples)} samples, {share:.1f} % at a branch or the compare before it; {unknown} without code")
        if precise and wrong:
            print(f"{query}: {worst(wrong)}")
            bad += 1
    if not precise:
        skip("this processor's branch misses are not precise here (max_precise 0): the samples are behind the branch")
    return bad


def distances(trace, event, period, seconds):
    """Between samples of the busiest thread, in ns."""
    record(trace, ["-e", f"{event}@{period}", "--stack", "0"], "q1", ("--seconds", str(seconds)), threads=1)
    times = collections.defaultdict(list)
    for r in dump(trace):
        if "sample" in r and r["weight"]:
            times[r["tid"]].append((r["time_ns"], r["weight"]))
    busiest = sorted(max(times.values(), key=len, default=[]))
    # the recorder varies periods a little while it drains: a sample's weight is the one that it had
    return [(b[0] - a[0]) * period / b[1] for a, b in zip(busiest, busiest[1:])]


def spaced(trace, event, step):
    """Are equal steps of the period equal steps in time?"""
    seconds = 0.5

    # A block is a recording for each of three periods.  It agrees if the claim is true: distances are judged by their medians, which a
    # thread that is taken off its processor now and then does not move.  If a period is not what was asked for (or samples are missing
    # between), its median is off by a period and more, and each block contradicts.
    def block(nr):
        nonlocal seconds
        middles = []
        for period in (step, 2 * step, 3 * step):
            apart = distances(trace, event, period, seconds)
            if len(apart) < SAMPLES_LEAST:
                seconds *= 2
                return None
            middle = statistics.median(apart)
            off = sorted(abs(d - middle) for d in apart)
            middles.append(middle)
            if nr == 0:
                figure(f"{event}@{period}: {len(apart)} distances, median {middle:.0f} ns; "
                       f"off by {statistics.median(off):.0f} ns (median), "
                       f"{off[len(off) * 95 // 100]:.0f} ns (95 %), {off[-1]:.0f} ns (most)")
        # what a sample itself takes, the counter standing still, is in each distance alike
        first, second = middles[1] - middles[0], middles[2] - middles[1]
        each = (first + second) / 2
        if nr == 0 and each > 0:
            figure(f"{event}: {step} more are {each:.0f} ns more ({step / each:.2f} per ns); "
                   f"a sample itself takes {middles[0] - each:.0f} ns")
        if not 0.9 * second < first < 1.1 * second:
            print(f"{event}: from {step} to twice that it is {first:.0f} ns farther, from there to three times {second:.0f} ns")
            return False
        return True

    return decide(f"{event}: equal steps of the period are equal steps in time", block)


def spacing(directory):
    trace, bad, had = os.path.join(directory, "t.tlr"), 0, 0
    for event, step in [("cycles", 200003), ("task-clock", 100003)]:
        try:
            bad += not spaced(trace, event, step)
            had += 1
        except Refused as refused:
            figure(f"{event}: not had: {refused}")
    if not had:
        skip("nothing here can be sampled with a fixed period")
    return bad


CHECKS = {"rungs": rungs, "faults": faults, "misses": misses, "branches": branches, "spacing": spacing, "batches": batches}
with tempfile.TemporaryDirectory() as top:
    sys.exit(1 if CHECKS[WHAT](top) else 0)
