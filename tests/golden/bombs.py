# SPDX-License-Identifier: MIT
# bombs.py FOLDER [NAME...]: small traces whose reports would take gigabytes or minutes, one for each way to make a reader expand or search.
import os, struct, sys, zlib
import trace_file as t
from trace_file import RECORDS, SAMPLES, FILES, deltas, leb, record, samples

PID = 100
MIB = 1 << 20
PROCESS = record("PROCESS", PID, 1, "/bin/host", "host")
NR = 65536  # samples of a record, at most
PLAIN = [(1, 3, leb(2000)), (2, 3, leb(PID)), (3, 3, leb(PID)), (5, 3, leb(0x400010)), (7, 3, leb(1))]
STACKED = PLAIN + [(9, 3, leb(2)), (64 + 7, 3, leb(0x7ffff0000000)), (64 + 8, 3, leb(0x400010))]
VARIED = record("EVENT", 0, 0, "task-clock", "ns", 1, 1, 100000, 0, 0, 0, 0, 0, "cpu", 1000)
LEVELS = b"".join(record("LEVEL", PID, n, 1, f"level {n}", []) for n in (1, 2, 3))


def of(nr, make):
    return b"".join(make(n) for n in range(nr))


def load(n, address, size, name="f", code=b"", time_ns=1000):
    return record("LOAD", PID, PID, PID, address, address, size, n, name, code, time_ns=time_ns)


def object(n, upper, time_ns=1000, end_ns=None, function=0x400000):
    end = record("OBJECT_END", PID, n, 0, 0, time_ns=end_ns) if end_ns else b""
    return record("OBJECT", PID, n, upper, 0, 0, [[function]], [[1, n]], time_ns=time_ns) + end


# Of [0x400000, 0x401000): CFA = rsp + 8.
FRAMES = (bytes([16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x80 | 16, 1, 0, 0]) + struct.pack("<IIQQ", 20, 24, 0x400000, 0x1000) +
          bytes(4))


def of_threads(b):
    for n in range(6):
        b.add(SAMPLES, samples(NR, PLAIN[:2] + [(3, 2, deltas(range(n * NR, n * NR + NR)))] + PLAIN[3:]))


# An object in a JIT's memory whose text covers PLAIN's samples; sections: name -> bytes, (type, flags, link, info, bytes).
def elf(sections, type=1):
    sections = {".text": (1, 6, 0, 0, b"\x90" * 4096), **{n: s if isinstance(s, tuple) else (1, 0, 0, 0, s) for n, s in sections.items()}}
    names = b"\0" + b"".join(n.encode() + b"\0" for n in sections) + b".shstrtab\0"
    sections[".shstrtab"] = (3, 0, 0, 0, names)
    body, heads, at = b"", [bytes(64)], {}
    for name, (kind, flags, link, info, data) in sections.items():
        if data not in sections: # else it has that section's bytes
            at[name] = 64 + len(body), len(data)
            body += data
        heads.append(struct.pack("<IIQQQQIIQQ", names.index(b"\0" + name.encode() + b"\0") + 1, kind, flags,
                                 0x400000 if name == ".text" else 0, *at[name if data not in sections else data], link, info, 1, 24))
    return (struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", type, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(heads),
                        len(sections)) + body + b"".join(heads))


def image(b, sections, ips=None):
    b.add(RECORDS, LEVELS + record("IMAGE", PID, 0, 1, 0, [], b"", "", elf(sections)))
    b.add(SAMPLES, samples(NR, PLAIN[:3] + [(5, 2, deltas(0x400000 + n % 4096 for n in range(NR)))] + PLAIN[4:]))


def line_table(program, folders=b"", files=b"f\0\0\0\0"):
    head = bytes([1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + folders + b"\0" + files + b"\0"
    table = struct.pack("<HI", 3, len(head)) + head + b"\0\x09\2" + struct.pack("<Q", 0x400000) + program + b"\2\x80\x20\0\1\1"
    return struct.pack("<I", len(table)) + table


# Tags 1 (a unit: lines, low, high), 2 (a unit: lines, ranges, low), 3 (an inlined call), 4 (a function), 5 (a namespace).
ABBREVIATIONS = (b"\1\x11\1\x10\x17\x11\1\x12\7\0\0" b"\2\x11\1\x10\x17\x55\x17\x11\1\0\0" b"\3\x1d\0\x55\x17\x03\x08\0\0"
                 b"\4\x2e\1\x11\1\x12\7\0\0" b"\5\x39\1\0\0")


def unit(body, abbreviations=0):
    body = struct.pack("<HIB", 4, abbreviations, 8) + body
    return struct.pack("<I", len(body)) + body


UNIT = b"\1" + struct.pack("<IQQ", 0, 0x400000, 4096)  # whose lines begin at 0
RANGED = b"\2" + struct.pack("<IIQ", 0, 0, 0)
FUNCTION = b"\4" + struct.pack("<QQ", 0x400000, 4096)
EMPTY_RANGES = struct.pack("<QQ", 5, 5)


def packed(data, claims=None):
    return (1, 0x800, 0, 0, struct.pack("<IIQQ", 1, 0, claims or len(data), 1) + zlib.compress(data, 9))


def dwarf(lines=b"", units=unit(UNIT), **others):
    symbol = struct.pack("<IBBHQQ", 1, 18, 0, 1, 0, 4096)
    return {".strtab": (3, 0, 0, 0, b"\0f\0"), ".symtab": (2, 0, 2, 0, bytes(24) + symbol), ".debug_line": lines or line_table(b"\x21" * 10), ".debug_info": units, ".debug_abbrev": ABBREVIATIONS + b"\0",
            **{"." + name: data for name, data in others.items()}}


# Whose counters leave almost everything open, so that most of it is eliminated and estimated.
def flows(b, nr, blocks):
    arcs = [[2**64 - 1, 0, 0], [blocks - 1, 2**64 - 1, 0]] + [[i * 7919 % blocks, i * 104729 % blocks, 0] for i in range(3 * blocks)]
    b.add(RECORDS, LEVELS + of(nr, lambda n: record("FLOW", PID, 1, 1, n + 1, [[1, 1, 1000]] * blocks, arcs,
                                                    [[i % blocks, i, 1, i % nr + 1] for i in range(5)], [[1, n + 1, 0]])) +
          record("COUNTER_BLOCK", PID, 7, 0, 0, 0, 0, [[3, 1, n + 1, 0] for n in range(nr)]) +
          record("COUNTER_VALUES", PID, 7, 0, [[1000 + n] for n in range(nr)]))


# Samples of one stack, whose words are that many bytes.
def of_one_stack(nr, words):
    runs = leb(0) + leb(len(words) // 8) + (leb(len(words) // 8) + leb(0)) * (nr - 1)
    return samples(nr, STACKED + [(10, 3, leb(len(words))), (11, 7, leb(len(runs)) + runs + words)])


# Calls of one function by another, as many as a stack can hold, in code that has or has not a component.
def deep_stacks(b):
    b.add(RECORDS, LEVELS + record("COMPONENT", PID, 1, 0, 1, "c", "") + record("EH_FRAME", PID, 0x500000, 0, FRAMES) +
          load(1, 0x400000, 256, "even") + load(2, 0x400100, 256, "odd"))
    for n in range(16): # each has other callers
        b.add(SAMPLES, of_one_stack(NR, struct.pack("<QQ", 0x400080, 0x400180 + n) * 4095))


BOMBS = {
    # bodies that are large only when decompressed
    "zeros": lambda b: b.add(RECORDS, t.msgpack.packb([200, 1, PID, PID, bytes(60 * MIB)]), 12),
    "machine code": lambda b: [b.add(RECORDS, load(n, n << 32, 60 * MIB, "f", bytes(60 * MIB))) for n in range(1, 5)],
    "texts": lambda b: [b.add(RECORDS, record("SOURCE", PID, 2, 0, 1, f"s{n}", b"\n" * (60 * MIB))) for n in range(3)],
    "long names": lambda b: [b.add(RECORDS, load(n, n << 20, 100, "N" * (60 * MIB))) for n in range(1, 5)],
    "names of accents": lambda b: [b.add(RECORDS, load(n, n << 20, 100, "\u0301" * (30 * MIB))) for n in range(1, 5)],
    "image files": lambda b: [b.add(FILES, record("IMAGE_FILE", 0, f"k{n}", "/bin/x", b"\1" * 20, 1 << 40, "",
                                                   [[n << 30, b"\x7fELF" + bytes(60 * MIB)]])) for n in range(4)],
    "large image file": lambda b: b.add(FILES, record("IMAGE_FILE", 0, "k", "/bin/x", b"\1" * 20, 1 << 63, "",
                                                       [[n * 1000, b"\x7fELF" + bytes(100)] for n in range(10000)])),
    "an array": lambda b: b.add(RECORDS, b"\x95\xcc\xc8\1\1\1\xdd\x03\xc0\0\0" + b"\xc0" * (63 * MIB), 4),
    "nested arrays": lambda b: b.add(RECORDS, b"\x95\xcc\xc8\1\1\1" + b"\x91" * (60 * MIB), 4),
    # flows of functions
    "flows": lambda b: flows(b, 3000, 50),
    "one flow": lambda b: flows(b, 1, 200000),
    # many small records
    "components": lambda b: b.add(RECORDS, LEVELS + of(100000, lambda n: record("COMPONENT", PID, 1, 0, n + 1, "c", ""))),
    "links": lambda b: [b.add(RECORDS, LEVELS + of(250000, lambda n: record("LINK", PID, 1, 2, n + i, n + i + 1, 1, 0)))
                        for i in (1, 250001, 500001)],
    "processes": lambda b: b.add(RECORDS, of(250000, lambda n: record("FORK", n + 1000, PID, PID))),
    "process names": lambda b: b.add(RECORDS, VARIED + of(100000, lambda n: record("PROCESS", n + 1000, 1, f"/bin/{n}",
                                                                                                   f"program {n}"))),
    "mappings": lambda b: b.add(RECORDS, of(60000, lambda n: record("MMAP", PID, 4096 * n, 1 << 36, 0, 5, f"/lib/{n}", b""))),
    "notices": lambda b: b.add(RECORDS, of(60000, lambda n: record("NOTICE", PID, "host", f"sentence {n}") +
                                            record("LOSS", PID, f"reason {n}", 1, 0))),
    "kernel functions": lambda b: b.add(RECORDS, record("KERNEL_FUNCTIONS", 0, [[n << 4, 16, "k", ""] for n in range(1000000)])),
    "source lines": lambda b: b.add(RECORDS, record("SOURCE_LINES", 0, "/a.c", 0, [[1, "\n" * 20000000]])),
    "source pieces": lambda b: b.add(RECORDS, record("SOURCE_LINES", 0, "/a.c", 0, [[n + 1, ""] for n in range(1000000)])),
    "source files": lambda b: b.add(RECORDS, of(60000, lambda n: record("SOURCE_LINES", 0, f"/{n}.c", 0, [[1, "x"]]))),
    "memory": lambda b: b.add(RECORDS, of(60000, lambda n: record("MEMORY", PID, 4096 * n, 1 << 30, 0, 0, f"m{n}"))),
    # what is searched for in what is there
    "links of one component": lambda b: b.add(RECORDS, LEVELS + of(100000, lambda n: record("LINK", PID, 1, 2, 1, n + 1, 1, 0))),
    "links of one component that change": lambda b: b.add(RECORDS, LEVELS + of(100000, lambda n: record("LINK", PID, 1, 2, 1, 1 + n % 2,
                                                                                                         n + 1, 0))),
    "unlinks": lambda b: b.add(RECORDS, LEVELS + of(60000, lambda n: record("LINK", PID, 1, 2, 1, n + 1, 1, 0) +
                                                     record("UNLINK", PID, 1, 2, 1, n + 1, time_ns=1001))),
    "counters of one component": lambda b: b.add(RECORDS, LEVELS + of(80000, lambda n: record("COUNTER", PID, 1, 1, n, f"counter {n}"))),
    "lines before code": lambda b: b.add(RECORDS, of(100000, lambda n: record("DEBUG_INFO", PID, 16 * n, 1, [[16 * n, 1, 0, "f"]]))),
    "sources and code": lambda b: [b.add(RECORDS, LEVELS + of(60000, lambda n: record("SOURCE", PID, 2, 0, 1000 * n, f"s{n}", b"text")) +
                                                  of(60000, lambda n: record("DEBUG_INFO", PID, (1 << 22) + 16 * n, 1,
                                                                             [[(1 << 22) + 16 * n, 1, 0, f"/src/s{n}"]]) +
                                                     load(n, (1 << 22) + 16 * n, 16))),
                                   b.add(SAMPLES, samples(60000, PLAIN[:3] + [(5, 2, deltas(range(1 << 22, (1 << 22) + 960000, 16))),
                                                                              PLAIN[4]]))],
    "marks without an end": lambda b: b.add(RECORDS, of(60000, lambda n: record("MARK", PID, 1, 0, 0, n, n + 1, 1, f"mark {n}", "") +
                                                         record("MARK", PID, 2, 0, 0, n, n + 1, 1, f"other {n}", ""))),
    "marks of one name": lambda b: b.add(RECORDS, of(80000, lambda n: record("MARK", PID, 1, 0, 0, n, 0, 1, "mark", "", tid=n)) +
                                          of(80000, lambda n: record("MARK", PID, 2, 0, 0, n, 0, 1, "mark", "", tid=n, time_ns=1001))),
    "nested marks": lambda b: [b.add(RECORDS, of(80000, lambda n: record("MARK", PID, 1, 0, 0, n, 0, 1, "m", "", n + 1, n, 1, 0,
                                                                         time_ns=1000 + n))),
                               b.add(SAMPLES, samples(NR, PLAIN), 20)],
    "marks over threads": lambda b: [b.add(RECORDS, of(80000, lambda n: record("MARK", PID, 1, 0, 0, n, 0, 1, f"m{n % 12}", "", n + 1, 0, 0, 1,
                                                                               time_ns=1000 + n))),
                                     of_threads(b)],
    "nested objects": lambda b: b.add(RECORDS, LEVELS + of(1000, lambda n: object(n + 1, n)) + of(60000, lambda n: object(2000 + n, 1000))),
    "objects of one function": lambda b: [b.add(RECORDS, LEVELS + record("EH_FRAME", PID, 0x500000, 0, FRAMES) + object(1, 0, function=1) +
                                                of(60000, lambda n: object(n + 2, 1, 2000 + n, 3000 + n))),
                                          b.add(SAMPLES, samples(NR, [(1, 2, deltas(range(2000, 2000 + NR)))] + STACKED[1:]) * 4)],
    "outermost objects": lambda b: [b.add(RECORDS, LEVELS + record("EH_FRAME", PID, 0x500000, 0, FRAMES) +
                                          of(60000, lambda n: object(n + 1, 0, 2000 + n, 1 << 60))),
                                    b.add(SAMPLES, samples(NR, [(1, 2, deltas(range(2000, 2000 + NR)))] + STACKED[1:]) * 4)],
    "scopes": lambda b: b.add(RECORDS, LEVELS + of(50000, lambda n: record("COMPONENT", PID, 1, 0, n + 1, "c", "")) +
                               of(50000, lambda n: record("SCOPE", PID, 1, 0, 1, 1 << 60, "s", "") +
                                  record("SCOPE", PID, 2, 0, 1, 1 << 60, "", ""))),
    "one id, many names": lambda b: [b.add(RECORDS, LEVELS + of(100000, lambda n: record("COMPONENT", PID, 1, 0, 1, f"c{n}", "",
                                                                                         time_ns=1000 + n)))],
    "code at one address": lambda b: [b.add(RECORDS, of(60000, lambda n: load(n, 0x400000 - n % 4096, 8192 + n % 5000, time_ns=1000 + n))),
                                      b.add(SAMPLES, samples(NR, PLAIN), 20)],
    "nested code": lambda b: b.add(RECORDS, of(100000, lambda n: load(n, 0x1000000 + n, 0x4000000 - 2 * n))),
    "a plan": lambda b: b.add(RECORDS, LEVELS + of(600, lambda i: of(600, lambda j: record("EDGE", PID, 1, 0, i + 1, j + 1, 0, 0, "")))),
    "a deep plan": lambda b: b.add(RECORDS, LEVELS + of(80000, lambda n: record("EDGE", PID, 1, n + 1, n + 2, 0, 0, ""))),
    "tags": lambda b: [b.add(RECORDS, LEVELS + of(80000, lambda n: record("TAG", PID, 15, 0, 0, 0, 0, [[1, 0, 64]], [[0, 1 << 47]],
                                                                           time_ns=1000 + n))),
                       b.add(SAMPLES, samples(NR, PLAIN + [(64 + 23, 3, leb(1))]), 20)],
    # samples
    "samples": lambda b: b.add(SAMPLES, samples(NR, PLAIN) * 2000),
    "stacks": lambda b: b.add(SAMPLES, samples(NR, STACKED + [(10, 3, leb(65528)), (11, 7, leb(3 * NR) + (leb(8191) + leb(0)) * NR)]), 20),
    "call chains": lambda b: b.add(SAMPLES, samples(NR, STACKED + [(12, 3, leb(120)), (13, 3, leb(0x400100))]), 100),
    "long call chains": lambda b: b.add(SAMPLES, samples(NR, STACKED + [(12, 3, leb(900)), (13, 2, bytes(900 * NR))])),
    "kernel chains": lambda b: b.add(SAMPLES, samples(NR, PLAIN + [(8, 3, leb(1)), (128, 8, (leb(900) + b"\2" * 900) * NR)])),
    "deep stacks": deep_stacks,
    "threads": lambda b: of_threads(b),
    "addresses": lambda b: [b.add(SAMPLES, samples(NR, PLAIN[:3] + [(5, 2, deltas(range(n * NR * 4096, (n + 1) * NR * 4096, 4096))),
                                                                    PLAIN[4]])) for n in range(6)],
    # ELF objects: their DWARF says much with few bytes, or sends who reads it over the same bytes again and again
    "rows of lines": lambda b: image(b, dwarf(line_table(b"\x21" * (40 * MIB)))),
    "rows of packed lines": lambda b: image(b, {**dwarf(), ".debug_line": packed(line_table(b"\x21" * (300 * MIB)))}),
    "files of lines": lambda b: image(b, dwarf(line_table(b"\x21", b"d" * MIB + b"\0", b"f\0\1\0\0" * 100000))),
    "files in lines": lambda b: image(b, dwarf(line_table(b"\0\6\3f\0\1\0\0" * 100000, b"d" * MIB + b"\0"))),
    "units of a line table": lambda b: image(b, dwarf(line_table(b"\x21" * 100000), unit(UNIT) * 20000)),
    "units without addresses": lambda b: image(b, dwarf(line_table(b"\x21" * 100000), unit(b"\1" + struct.pack("<IQQ", 0, 0, 0)) * 20000)),
    "units that overlap line tables": lambda b: image(b, dwarf(line_table(line_table(b"\x21" * 50000) * 20), b"".join(
        unit(b"\1" + struct.pack("<IQQ", n * (50000 + 54) + 54, 0x400000 + n, 1)) for n in range(20)) * 1000)),
    "units": lambda b: image(b, dwarf(units=unit(UNIT[:1]) * (3 * MIB))),
    "ranges of units": lambda b: image(b, dwarf(units=unit(RANGED) * 20000, debug_ranges=EMPTY_RANGES * 1000000 + bytes(16))),
    "ranges of calls": lambda b: image(b, dwarf(units=unit(UNIT + FUNCTION + (b"\3" + bytes(4) + b"f\0") * 1000000 + bytes(2)),
                                                debug_ranges=EMPTY_RANGES * 1000000 + bytes(16))),
    "attributes": lambda b: image(b, {**dwarf(units=unit(UNIT + (FUNCTION + b"\6" * 500000 + b"\0") * 20 + b"\0")),
                                      ".debug_abbrev": ABBREVIATIONS + b"\6\x34\0" + b"\x3f\x19" * 500000 + bytes(3)}),
    "abbreviations of units": lambda b: image(b, {**dwarf(units=unit(b"\xff\1" + UNIT[1:]) * 20000),
                                                  ".debug_abbrev": ABBREVIATIONS + b"".join(leb(n) + b"\x34\0\0\0" for n in range(256, 200000)) +
                                                  b"\xff\1" + ABBREVIATIONS[1:]}),
    "names without an end": lambda b: image(b, {".symtab": (2, 0, 3, 0, b"".join(
        struct.pack("<IBBHQQ", n, 18, 0, 1, n % 4096, 1) for n in range(1, 200000))), ".strtab": (3, 0, 0, 0, b"\0" + b"a" * (30 * MIB))}),
    "relocations": lambda b: image(b, {".symtab": (2, 0, 0, 0, bytes(48)), ".debug_info": bytes(64), ".rela.debug_info": (
        4, 0, 2, 3, struct.pack("<QQQ", 0, 10, 0) * 1000000), **{f".r{n}": (4, 0, 2, 3, ".rela.debug_info") for n in range(500)}}),
}
if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    for name in names or BOMBS:
        bomb = t.Trace()
        bomb.add(RECORDS, PROCESS)
        BOMBS[name](bomb)
        bomb.write(os.path.join(folder, name.replace(" ", "_") + ".tlr"))
