# SPDX-License-Identifier: MIT
"""See sqlite-opcodes.sh.  sqlite_opcodes.py BUILD FOLDER"""
import collections
import os
import subprocess
import sys

sys.path[:0] = ["tests", "tests/postgres"]
import evidence
import profile

HOST = "tests/hosts/sqlite_statements.py"
PYTHON = "/usr/bin/python3"
SAMPLES = 400
WANTED = 90  # % of the samples in sqlite3VdbeExec on an instruction; without the word in its frame there are none
# Exported functions of the library, and the instructions that call them, or that call what calls them.
CALLERS = {
    "sqlite3VdbeSorterWrite": {"SorterInsert"},
    "sqlite3VdbeSorterRewind": {"SorterSort", "Sort"},
    "sqlite3VdbeSorterNext": {"SorterNext"},
    "sqlite3VdbeSorterRowkey": {"SorterData"},
    "sqlite3BtreeNext": {"Next", "SeekScan", "SeekGE", "SeekGT", "Count", "IntegrityCk",
                         # these go to the row behind the last one by it
                         "Column", "SeekRowid", "NotExists", "FinishSeek", "Rowid"},
    "sqlite3VdbeSerialGet": {"Column", "Found", "NotFound", "NoConflict", "IdxInsert", "SeekGE", "SeekGT", "SeekLE", "IdxGE", "IdxGT",
                             "IdxLE", "IdxLT", "SorterSort", "SorterNext", "SorterCompare", "IdxDelete", "IntegrityCk", "DeferredSeek",
                             "IdxRowid", "SorterInsert"},
    "sqlite3VdbeIdxRowid": {"DeferredSeek", "IdxRowid"},
    "sqlite3_value_text": {"Function", "PureFunc", "AggStep", "AggStep1", "AggFinal", "ResultRow"},
}
faults = []


def fail(sentence):
    faults.append(sentence)


def samples(tailor, trace):
    p = subprocess.Popen([tailor, "report", "--samples", "--mark", "all", trace], stdout=subprocess.PIPE, text=True, errors="replace")
    heads = p.stdout.readline().rstrip("\n").split("\t")
    for line in p.stdout:
        s = {}
        for head, value in zip(heads, line.rstrip("\n").split("\t")):
            s.setdefault(head, value)  # a level of the host may be called "function", too
        s["at"] = int(s["time_ns"]), int(s["tid"])
        s["opcode"] = profile.split(s.get("opcode", ""))[0]
        yield s
    p.wait()


def names(tailor, trace):
    return {c["name"] for c in profile.report(tailor, trace)["components"] if c["level"] == "opcode"}


def lacks_instructions(tailor, trace):
    """As a sentence says: this build of SQLite keeps the running one in no one place."""
    return "instructions of statements are missing" in subprocess.run([tailor, "dump", trace], capture_output=True, text=True).stdout


def check_samples(tailor, folder):
    trace, said = folder + "/s.tlr", []
    bare = subprocess.run([PYTHON, HOST, "0.1"], capture_output=True, text=True)
    if bare.returncode:
        evidence.skip("this Python has no sqlite3 module that can do what the test does: " + bare.stderr.strip().split("\n")[-1])

    def record(seconds):
        p = subprocess.run([tailor, "run", "-q", "-r", str(evidence.allowed_rate(4000)), "--stack", "16384", "-o", trace, "--", PYTHON, HOST,
                            str(seconds)], capture_output=True, text=True)
        if (p.returncode, p.stdout, p.stderr) != (0, bare.stdout, bare.stderr):
            fail(f"recorded: exit {p.returncode}, {p.stdout} {p.stderr}\nexpected {bare.stdout}")
            return SAMPLES
        said[:] = samples(tailor, trace)
        return sum(s["function"] == "sqlite3VdbeExec" for s in said)

    evidence.gather(SAMPLES, record)
    if faults:
        return
    notices = subprocess.run([tailor, "report", trace], capture_output=True, text=True).stdout
    if "statements and their instructions registered" not in notices:
        evidence.skip("SQLite's library here is built otherwise than Debian's")
    for sentence in profile.faults_of_store(tailor, trace):
        fail(sentence)
    inner = [s for s in said if s["function"] == "sqlite3VdbeExec"]
    if lacks_instructions(tailor, trace):
        # A sentence says so; statements are known all the same, and no instruction is made up.
        queries = [c for c in profile.report(tailor, trace)["components"] if c["level"] == "query"]
        if sum(bool(s["opcode"]) and not s["opcode"].startswith("(") for s in said):
            fail("samples are on instructions, although a sentence says that none are")
        if sum(c["samples"] for c in queries) < len(said) / 2:
            fail(f"expected statements of at least half of {len(said)} samples, got {queries}")
        print(f"FIGURE instructions are missing, as is said; statements have {sum(c['samples'] for c in queries)} of {len(said)} samples")
        return
    found = sum(bool(s["opcode"]) for s in inner)
    print(f"{found} of {len(inner)} samples of the interpreter itself on an instruction")
    if 100 * found < WANTED * len(inner):
        fail(f"expected {WANTED} % of {len(inner)} samples in sqlite3VdbeExec on an instruction, got {found}")
    wrong, right = collections.Counter(), 0
    for s in said:
        if s["function"] in CALLERS and s["opcode"] and not s["opcode"].startswith("("):
            opcode = s["opcode"].split()[1]
            if opcode in CALLERS[s["function"]]:
                right += 1
            else:
                wrong[s["function"], opcode] += 1
    print(f"{right} samples of functions that only some instructions call are on these, {sum(wrong.values())} are not: {dict(wrong)}")
    if sum(wrong.values()) > right / 100:
        fail(f"samples on instructions that do not call their functions: {wrong.most_common(5)}")


def check_shell(tailor, folder):
    """Names are those of EXPLAIN."""
    script = ("create table t(a integer primary key, b text); create index tb on t(b);\n"
              "with recursive r(n) as (select 1 union all select n + 1 from r where n < 2000) insert into t select n, 'x' || n from r;\n"
              "select sum(x.a) from t x join t y on y.b = 'x' || x.a order by x.b;\n")
    query = script.strip().split("\n")[-1]
    try:
        bare = subprocess.run(["sqlite3", ":memory:"], input=script, capture_output=True, text=True)
    except OSError:
        print("sqlite3's shell is not here")
        return
    trace = folder + "/shell.tlr"
    p = subprocess.run([tailor, "run", "-q", "-o", trace, "--", "sqlite3", ":memory:"], input=script, capture_output=True, text=True)
    if (p.returncode, p.stdout, p.stderr) != (0, bare.stdout, bare.stderr):
        fail(f"the shell: exit {p.returncode}, {p.stdout} {p.stderr}, expected {bare.stdout}")
        return
    if lacks_instructions(tailor, trace):
        return
    listed = subprocess.run(["sqlite3", ":memory:"], input=f".explain off\n.mode list\n{script.split(chr(10))[0]}\nexplain {query}\n",
                            capture_output=True, text=True).stdout
    got = names(tailor, trace)
    for line in listed.splitlines():
        n, opcode = line.split("|")[:2]
        if not any(name.split()[:2] == [n, opcode] for name in got):
            fail(f"EXPLAIN has the instruction `{n} {opcode}`, the trace has not: {sorted(got)}")
            return
    for name in ("Column t.1", "Next t", "Next index tb", "Insert t", "SorterSort (sorter)"):
        if not any(g.split(" ", 1)[-1] == name for g in got):
            fail(f"no instruction is named `{name}`: {sorted(got)}")


def main():
    tailor, folder = os.path.abspath(sys.argv[1]) + "/tailor", sys.argv[2]
    check_samples(tailor, folder)
    check_shell(tailor, folder)
    for sentence in faults:
        print(sentence)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
