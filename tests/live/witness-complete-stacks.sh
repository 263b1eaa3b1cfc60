#!/bin/bash
# SPDX-License-Identifier: MIT
# Of programs that people use, nine of ten call stacks reach the first frame of their thread, with the options that nobody gave.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import json, os, re, shutil, subprocess, sys
sys.path[:0] = ["tests", "tests/hosts"]
from evidence import NEARLY, decide, skip
from jits import POSTGRES, POSTGRES_BIN, POSTGRES_PREPARE

B, DIR = sys.argv[1:]
TRACE = f"{DIR}/t.tlr"
JITS = f"{os.getcwd()}/tests/hosts/jits"
# Samples a block: what happens at a start alone, with other stacks, is a small part of them; a virtual machine's start is long.
WANTED, WANTED_OF = 1500, {"node": 5000, "javac": 5000}
bad = ran = 0

def history():
    """A repository with a history to walk: of no checkout is it known that it has one."""
    os.makedirs(f"{DIR}/git")
    subprocess.run(["git", "init", "-q", f"{DIR}/git"], check=True)
    with subprocess.Popen(["git", "-C", f"{DIR}/git", "fast-import", "--quiet"], stdin=subprocess.PIPE, text=True) as p:
        for n in range(400):
            text = "".join(f"line {i * (1 + (n + i) % 7)}\n" for i in range(400))
            p.stdin.write(f"commit refs/heads/main\ncommitter T <t@example.org> {1700000000 + n} +0000\ndata 1\nx\n"
                          f"M 644 inline file{n % 9}\ndata {len(text)}\n{text}\n")

def prepare(command):
    subprocess.run(command.format(dir=DIR, jits=JITS, s=1, r=f"{DIR}/rounds"), shell=True, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)

SOURCE = "analyzer/symbols/elf_object.c -I. -D_GNU_SOURCE -w"
SQL = "select a % 7, count(*), sum(a * 2.5) from generate_series(1, 400000) a group by 1 order by 2;"
PYTHON = "import json, sys\nfor i in range(60000 * int(sys.argv[1])): json.loads(json.dumps(dict(a=[1, 2, 3], b=str(i))))"
PROGRAMS = [  # needs, prepare, command
    ("git", history, f"for i in $(seq {{s}}); do git -C {DIR}/git log --stat -p main; done"),
    ("gcc", None, f"for i in $(seq {{s}}); do gcc -O2 -g -c {SOURCE} -o {DIR}/o.o; done"),
    ("/usr/bin/python3", None, f"/usr/bin/python3 -c '{PYTHON}' {{s}}"),
    ("node", None, f"node {JITS}/fib.js {{s}} {DIR}/rounds"),
    ("javac", lambda: prepare("javac -d {dir} {jits}/Fib.java"), f"java -cp {DIR} Fib {{s}} {DIR}/rounds"),
    (POSTGRES_BIN + "/postgres", lambda: prepare(POSTGRES_PREPARE),
     f"for i in $(seq {{s}}); do echo '{SQL}'; done | " + POSTGRES.format(dir=DIR).replace("jit=on", "jit=off") + " template1"),
]

def complete(command):
    """-> (stacks that reached their first frame, all, what was printed)"""
    p = subprocess.run([f"{B}/tailor", "run", "-q", "-o", TRACE, "--", "sh", "-c", command], stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, text=True)
    if p.returncode:
        sys.exit(f"{command}: expected exit status 0, got {p.returncode}: {p.stderr}")
    report = json.loads(subprocess.run([f"{B}/tailor", "report", "--json", TRACE], capture_output=True, check=True).stdout)
    smaller = [n["sentence"] for n in report["notices"] if " stack bytes per sample unavailable " in n["sentence"]]
    if smaller:  # where nobody says so, shorter stacks are a fault
        skip(f"there is no locked memory for rings that hold longer stacks (ulimit -l): {smaller[0]}")
    said = subprocess.run([f"{B}/tailor", "unwind", TRACE], capture_output=True, text=True, check=True).stdout
    nr = int(re.search(r"^\d+ samples, (\d+) with stack bytes", said, re.M)[1])
    whole = re.search(r"^memo: (\d+) complete", said, re.M)
    return int(whole[1]) if whole else 0, nr, said

for needs, first, command in PROGRAMS:
    name = os.path.basename(needs)
    if not shutil.which(needs):
        print(f"{name} is not here")
        continue
    if first:
        first()
    seen, size = [], 1
    def block(_):
        global size
        # Which functions are sampled differs little from run to run: a share has a standard deviation of 2 points at most.  Of the
        # programs here it is 97 % or more.
        found, wanted = complete(command.format(s=size)), WANTED_OF.get(name, WANTED)
        if found[1] < wanted:
            size = min(4 * size, 1 + int(1.2 * size * wanted / (1 + found[1])))
            return None
        seen.append(found)
        return found[0] >= 0.9 * found[1]
    ran += 1
    if not decide(f"{name}: nine of ten stacks are complete", block, **NEARLY):
        bad = 1
        print(seen[-1][2])
    print(f"FIGURE {name}: " + ", ".join(f"{100 * n / of:.1f} % of {of}" for n, of, _ in seen[:3]))
if not ran:
    skip("none of these programs is installed")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
