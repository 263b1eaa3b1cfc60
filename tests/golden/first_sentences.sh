#!/bin/bash
# SPDX-License-Identifier: MIT
# The sentences that a report begins with, each planted in a trace that is made for it, and all together: their order is that of
# docs/reading-a-report.md.  A table of totals has the share of truncated stacks in its heading from 2 % on, and only then.
. tests/golden/begin.bash
/usr/bin/python3 - "$B/tailor" "$dir" <<'END'
import os, re, struct, subprocess, sys
import trace_file
from bombs import FRAMES, PID, STACKED, load
from trace_file import deltas, leb, record, samples

tailor, folder = sys.argv[1:]
CODE, UNNAMED = 0x400000, 0x600000
EVENT = record("EVENT", 0, 0, "task-clock", "ns", 1, 1, 0, 4000, 0, 0, 0, 16, "cpu", 0)
KNOWN = record("PROCESS", PID, 1, "/usr/bin/node", "node") + load(1, CODE, 4096, "work") + record("EH_FRAME", PID, 0x500000, 0, FRAMES)
SENTENCE = "V8 99: names of JavaScript functions are missing, because it is newer than the versions verified (9 to 14). Run node with --x"
VERSION = (record("HOST_LACK", PID, "V8", "99", "names of JavaScript functions", "it is newer than the versions verified (9 to 14)", "",
                  "Run node with --x", "Node deno") + record("NOTICE", 0, "version", SENTENCE))
OF_1_0 = record("NOTICE", 0, "version", "V8 99 is newer than tailor knows: its code has no names here")
REGION = record("REGION", PID, UNNAMED, 4096, "/usr/bin/node", 0)
PYTHON, PYTHON_OF_1_0 = (record("NOTICE", 0, kind, "names of Python functions unavailable by `tailor attach`. Record with `tailor run`")
                         for kind in ("names", "host"))
TAGS = record("NOTICE", 0, "tag", "not in these samples: a thread-local word needs --sampler signal or timer")


def stacked(nr, ip, words, first, pid=PID):
    columns = [c if c[0] not in (2, 3) else (c[0], 3, leb(pid)) for c in STACKED[1:] if c[0] != 5]
    return samples(nr, [(1, 2, deltas(range(first, first + nr * 10**6, 10**6)))] + columns +
                   [(5, 3, leb(ip)), (10, 3, leb(8 * len(words))), (11, 0, struct.pack(f"<{len(words)}Q", *words) * nr)])


# truncated: of a thousand samples; unnamed: those in a region; also: those in another process's, behind all.  The others reach the first
# frame.
def report(records, truncated=0, unnamed=0, nr=1000, end=10**10, options=(), way="run", known=KNOWN, command=[["host"]], also=0):
    head = record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", command, way, 0)
    trace = trace_file.Trace(head + EVENT)
    trace.add(trace_file.RECORDS, known + records)
    for count, ip, words, pid in ((nr - truncated - unnamed, CODE + 8, (CODE + 9, 0), PID),
                                  (truncated, CODE + 8, (CODE + 9, CODE + 9), PID), (unnamed, UNNAMED + 8, (0, 0), PID),
                                  (also, UNNAMED + 8, (0, 0), PID + 1)):
        if count > 0:
            trace.add(trace_file.SAMPLES, stacked(count, ip, words, 2000, pid))
    trace.add(trace_file.END, record("END", 0, 0, 0, 0, 0, 0, time_ns=end))
    path = f"{folder}/t.tlr"
    with open(path, "wb") as f:
        f.write(b"".join(trace.parts))
    p = subprocess.run([tailor, "report", *options, path], capture_output=True, text=True, env={**os.environ, "COLUMNS": "1000"})
    return p.stdout


bad = 0


def expect(case, holds, said):
    global bad
    if not holds:
        bad = 1
        print(f"{case}; got:\n" + "\n".join(said.splitlines()[:12]))


def begins(case, said, *sentences):
    lines = said.splitlines()
    expect(f"{case}: expected the report to begin with {sentences}",
           len(lines) > len(sentences) and all(re.search(s, l) for s, l in zip(sentences, lines)), said)


TRUNCATED = r"^[0-9.]+ % of the call stacks are truncated at 0.0156 KiB, so that outer callers lack them in their totals\. Record more"
CODE_OF = "% of all samples ran in code that node"
begins("a version", report(VERSION), "^" + re.escape(SENTENCE) + r"\.$", "^(?!.*V8)")
begins("a version, 1.0.0", report(OF_1_0), r"^V8 99 is newer than tailor knows: its code has no names here\.$")
for which, records in ("", PYTHON), (", 1.0.0", PYTHON_OF_1_0):
    begins("names of Python" + which, report(TAGS + records), "^Names of Python functions unavailable by `tailor attach`", "^Tags")
begins("truncated stacks", report(b"", 300), TRUNCATED)
begins("unnamed code", report(REGION, 0, 300), CODE_OF + ".* generated and did not name. Run node with --perf-basic-prof.$")
PLANTED = record("PROCESS", PID + 1, 1, "/opt/planted", "planted") + record("REGION", PID + 1, UNNAMED, 4096, "/opt/planted", 0)
said = report(REGION + PLANTED, 0, 400, also=200)
expect("unnamed code of two programs: expected a third to be node's", "33.3 " + CODE_OF + " generated" in said, said)


def interpreter(path):
    return record("MMAP", PID, UNNAMED, 4096, 0, 5, path, b"")


for path, language in (("/usr/lib/libruby-3.3.so.3.3", "Ruby"), ("/usr/bin/ruby3.1", "Ruby"), ("/usr/bin/perl", "Perl"),
                       ("/usr/bin/lua5.4", "Lua")):
    begins(path, report(interpreter(path), 0, 600),
           rf"^6\d\.\d % of all samples ran in {language}'s interpreter: {language} functions have no names there\.")
# Names of Python's functions come first unless most samples are in code of programs that do not run Python; then they stand behind.
for elsewhere, is_first in (400, True), (600, False):
    said = report(PYTHON + interpreter("/opt/planted") + record("PROCESS", PID + 1, 1, "/opt/planted", "planted"), 0, elsewhere)
    at = said.lower().find("names of python functions unavailable")
    expect(f"names of Python, {elsewhere} of 1000 samples elsewhere", (at == 0) == is_first and at >= 0, said)
# Engines and languages that this recording has not heard; a live recording of Python has its recorder's notice.
ENGINE = "of all samples ran in {}, whose statements and operators are not known here"
for path, sentence, way in (("/usr/lib/libsqlite3.so.0.8.6", ENGINE.format("SQLite"), "run"),
                            ("/opt/_duckdb.abi3.so", ENGINE.format("DuckDB"), "run"),
                            ("/usr/bin/postgres", ENGINE.format("PostgreSQL"), "import")):
    begins(f"{path}, {way}", report(interpreter(path), 0, 600, way=way), rf"^6\d\.\d % .*{sentence}.*\. Record with `tailor ")
SNAKE = record("PROCESS", PID, 1, "/usr/bin/python3.11", "python3") + interpreter("/usr/bin/python3.11")
begins("python, import", report(SNAKE, 0, 1000, way="import", known=b""),
       r"^100\.0 % .* ran in Python's interpreter: .* Record with `tailor ")
said = report(SNAKE, 0, 1000, known=b"")
expect("a live recording of Python: expected the recorder's notice alone", "interpreter:" not in said, said)
PLAN = record("LEVEL", PID, 7, 1, "operator", []) + record("COMPONENT", PID, 7, 0, 1, "scan", "")
said = report(interpreter("/usr/lib/libsqlite3.so.0.8.6") + PLAN, 0, 600)
expect("SQLite with a plan: expected no sentence", "not known here" not in said, said)
# In a whole machine, another program's plan says nothing about an engine that runs elsewhere; its own does.
OTHER = (record("PROCESS", PID + 1, 1, "/usr/lib/postgresql/15/bin/postgres", "postgres") + record("LEVEL", PID + 1, 7, 1, "operator", []) +
         record("COMPONENT", PID + 1, 7, 0, 1, "scan", ""))
for plan, heard in (OTHER, False), (PLAN, True), (OTHER + PLAN, True):
    said = report(interpreter("/usr/lib/libsqlite3.so.0.8.6") + plan, 0, 600, command=[])
    expect(f"SQLite in a whole machine with a plan {'of its' if heard else 'elsewhere'}", (ENGINE.format("SQLite") in said) != heard, said)
# A file of perf may lack mappings: samples without one are no JIT's, and those in memory for code are.
for records, wanted in (b"", False), (REGION, True):
    said = report(records, 0, 300, way="import")
    expect(f"import {'with' if wanted else 'without'} a mapping: a JIT is {'' if wanted else 'not '}told",
           ("generated and did not name" in said) == wanted, said)
said = report(interpreter("/usr/bin/ruby3.1"), 0, 300, command=[])
expect("Ruby has 30 % of a whole machine: expected its sentence", "30.0 % of all samples ran in Ruby's interpreter" in said, said)
for path, unnamed in (("/usr/bin/ruby3.1", 400), ("/usr/bin/luajit", 600), ("/usr/lib/perlish", 600)):
    said = report(interpreter(path), 0, unnamed)
    expect(f"{path}, {unnamed} of 1000 samples: expected no sentence of an interpreter", "interpreter:" not in said, said)
# The other doors say what the report says first; a store says it without a share, as it keeps one sentence for all its epochs.
def doors(case, records, unnamed, sentence):
    path = f"{folder}/t.tlr"
    report(records, 0, unnamed)
    for name, command in (("top", ["top", "--once", path]), ("export", ["export", "-f", "folded", path]), ("diff", ["diff", path, path]),
                          ("stat", ["stat", path, path]), ("pprof", ["export", "-f", "pprof", "--overwrite", "-o", f"{folder}/x.pb", path]),
                          ("html", ["html", "--overwrite", "-o", f"{folder}/x.html", path]),
                          ("add", ["db", "add", f"{folder}/{case}.tlrs", path]),
                          ("db", ["db", "report", f"{folder}/{case}.tlrs"])):
        p = subprocess.run([tailor, *command], capture_output=True, text=True, env={**os.environ, "COLUMNS": "1000"})
        said = p.stdout + p.stderr + (open(f"{folder}/x.html").read() if name == "html" else "")
        said = re.sub(r"\s+", " ", said.replace("&#39;", "'").replace("&apos;", "'"))
        expect(f"{case}, {name}: expected to read '{sentence}'", p.returncode == 0 and (name == "add" or re.search(sentence, said)), said)


doors("code", REGION, 300, "ran in code that node generated and did not name. Run node with --perf-basic-prof")
doors("engine", interpreter("/usr/lib/libsqlite3.so.0.8.6"), 600, "ran in SQLite, whose statements and operators are not known here")
doors("names", PYTHON, 0, "Names of Python functions unavailable by `tailor attach`")
# A comparison doubts that two programs of which hardly a line is common are one; versions of one program have other names.
SNAKES = [record("PROCESS", PID, 1, f"/usr/bin/python{version}", "python3") + load(1, CODE, 4096, name) +
          record("EH_FRAME", PID, 0x500000, 0, FRAMES) for version, name in (("3.11", "tax"), ("3.12", "vat"))]
for name, known in ("node", KNOWN), ("one", SNAKES[0]), ("two", SNAKES[1]):
    report(b"", known=known)
    os.rename(f"{folder}/t.tlr", f"{folder}/{name}.tlr")
DOUBT = "Are these the same program? Lines of both have 0.0 % of A (node) and 0.0 % of B (python3.11)."
for a, b, doubted in ("node", "one", True), ("one", "two", False), ("one", "one", False):
    said = subprocess.run([tailor, "diff", f"{folder}/{a}.tlr", f"{folder}/{b}.tlr"], capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": "1000"}).stdout
    expect(f"diff of {a} and {b}: expected {'a' if doubted else 'no'} doubt", said and (DOUBT in said) == doubted, said)
begins("Spark without its plans", report(load(2, 0x700000, 64, "org.apache.spark.sql.catalyst.expressions.GeneratedClass$Stage1.next")),
       "^Spark: operators, stages and tasks unavailable; ")
begins("all", report(TAGS + PYTHON + REGION + VERSION, 300, 300), "^V8 99: ", TRUNCATED, "^Names of Python",
       CODE_OF + r".* did not name\.$", "^Tags not in these samples", "^(?!.*(V8|truncated|Tags|Python))")
begins("no samples", report(TAGS + VERSION, nr=0), "^No samples: ", "^V8 99: ", "^Tags ")
# Of several events the first one that has samples is the report's, and every door's: page faults that did not happen are not.
FAULTS = record("EVENT", 0, 1, "major-faults", "events", 1, 1, 0, 4000, 0, 0, 0, 0, "cpu", 0)
CYCLES = record("EVENT", 0, 2, "planted/cycles/", "events", 1, 1, 0, 4000, 0, 0, 0, 0, "cpu", 0)
COLUMNS_OF_WORK = [(1, 2, deltas(range(2000, 2000 + 500)))] + [c for c in STACKED[1:] if c[0] < 5] + [(5, 3, leb(CODE + 8))]
trace = trace_file.Trace(record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]], "run", 0) + EVENT + FAULTS + CYCLES)
trace.add(trace_file.RECORDS, KNOWN)
trace.add(trace_file.SAMPLES, samples(500, COLUMNS_OF_WORK, 2))
trace.add(trace_file.END, record("END", 0, 0, 0, 0, 0, 0, time_ns=10**10))
with open(f"{folder}/second.tlr", "wb") as f:
    f.write(b"".join(trace.parts))
for command, sentence in ((["report"], r"work: 100\.0 % of all samples"), (["top", "--once"], r"100\.0 %.* work"),
                          (["export", "-f", "folded"], r"\d\d\d$"), (["report", "--view", "functions"], r"100\.0 %.* 500 .*work"),
                          (["report", "--event", "major-faults"], r"No samples: none of the 500 recorded samples ")):
    p = subprocess.run([tailor, *command, f"{folder}/second.tlr"], capture_output=True, text=True, env={**os.environ, "COLUMNS": "1000"})
    expect(f"samples of the third event, {command}: expected {sentence}", re.search(sentence, p.stdout), p.stdout + p.stderr)
# A trace of another architecture says so, and so does a view of machine code.
trace = trace_file.Trace(record("HEADER", 0, 2, "test", 0, "host", "riscv64", "6.1", 1, "/", [["host"]], "import", 0) + EVENT)
trace.add(trace_file.RECORDS, KNOWN)
trace.add(trace_file.SAMPLES, samples(500, COLUMNS_OF_WORK))
trace.add(trace_file.END, record("END", 0, 0, 0, 0, 0, 0, time_ns=10**10))
with open(f"{folder}/riscv64.tlr", "wb") as f:
    f.write(b"".join(trace.parts))
for options, sentence in ((), "machine   host, riscv64, 1 CPUs"), (("--view", "asm"),
                           "the trace is of riscv64, whose machine code is not supported"):
    said = subprocess.run([tailor, "report", *options, f"{folder}/riscv64.tlr"], capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": "1000"}).stdout
    expect(f"{options} of another architecture: expected {sentence}", sentence in said, said)
expect("3 % of the stacks truncated: expected no first sentence", "are truncated at" not in report(b"", 30), "")
for truncated, wanted in (30, True), (10, False), (0, False):
    for options, heading in ((), "^Functions.*"), (("--view", "functions"), "^Functions"):
        said = report(b"", truncated, options=options)
        found = re.search(heading + r", (\d+\.\d) % of the stacks truncated$", said, re.M)
        expect(f"{truncated} of 1000 stacks truncated: {'a' if wanted else 'no'} share in the heading of functions {options}",
               bool(found) == wanted and (not found or abs(float(found[1]) - truncated / 10) < 0.11), said)
sys.exit(bad)
END
