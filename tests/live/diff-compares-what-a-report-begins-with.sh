#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor diff` compares the functions that the report of these traces begins with: a Python program's, whatever C functions of CPython ran
# meanwhile, and in a C program also those that one of two builds inlined.  A function that a compiler inlined is not gone, its caller did
# not grow, and a change of it is found although it has no frame in either build.
. tests/live/begin.bash
cat >"$dir/host.c" <<'END'
/* Work for so many seconds of processor time, three quarters of it in parse(); SLOW: parse() does twice as much. */
#include <stdlib.h>
#include <time.h>
#ifdef SLOW
#define PARSE 6000
#else
#define PARSE 3000
#endif
static volatile unsigned long x;
static void parse(int n) { for (int i = 0; i < n; i++) x += i * 7; }
static void render(int n) { for (int i = 0; i < n; i++) x ^= i; }
static void handle(void) { parse(PARSE); render(1000); }
int main(int argc, char **argv)
{
	while (clock() < atof(argv[argc - 1]) * CLOCKS_PER_SEC)
		for (int i = 0; i < 100; i++)
			handle();
	return 0;
}
END
cat >"$dir/host.py" <<'END'
import sys, time

def tax(n):
    s = 0
    for i in range(n): s += i * i % 7
    return s

def text(n):
    return "".join(map(str, range(n)))

while time.process_time() < float(sys.argv[2]):
    tax(int(sys.argv[1]))
    text(2000)
END
CC=${CC:-gcc}
$CC -g -O2 -fno-inline -o "$dir/apart" "$dir/host.c" && $CC -g -O2 -o "$dir/together" "$dir/host.c" &&
	$CC -g -O2 -DSLOW -o "$dir/slower" "$dir/host.c" && $CC -O2 -o "$dir/stripped" "$dir/host.c" || exit 1
judge /usr/bin/python3 - "$B" "$dir" "${PYTHON3:-/usr/bin/python3}" <<'END'
import json, subprocess, sys
sys.path.insert(0, "tests")
from evidence import gather

B, DIR, PYTHON = sys.argv[1:]
bad = 0

def fail(sentence):
    global bad
    bad = 1
    print(sentence)

def run(*command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: expected exit 0, got {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-1000:]}")
    return p.stdout

def recording(name, wanted, *command):
    """Its path: so many samples of a command whose last argument is how long it works."""
    trace = f"{DIR}/{name}.tlr"
    def record(seconds):
        run(f"{B}/tailor", "run", "-q", "-o", trace, "--", *command, str(seconds))
        return json.loads(run(f"{B}/tailor", "report", "--json", trace))["samples"]["total"]
    gather(wanted, record, 0.5)
    return trace

def changes(a, b, *options):
    return json.loads(run(f"{B}/tailor", "diff", "--json", "--all", "--top", "0", *options, a, b))["tables"]["changes"]

def significant(rows, least=0.05):
    return sorted(r["name"] for r in rows if r["significant"] and max(r.get("share_a", 0), r.get("share_b", 0)) >= least)

# In C.  3,000 samples: what is twice as much is ten standard errors.
apart, together, slower, stripped = (recording(name, 3000, f"{DIR}/{name}") for name in ("apart", "together", "slower", "stripped"))
rows = changes(apart, together)
parse = [r for r in rows if "parse" in r["name"]]
if len(parse) != 1 or parse[0]["there"] != "both" or min(parse[0]["share_a"], parse[0]["share_b"]) < 0.5:
    fail(f"diff apart together: expected parse() on both sides, got {parse}")
# Both builds store and load one variable in a loop.  Processors differ in how fast that is, by the code around it, up to four times.
grown = [r["name"] for r in rows if r["significant"] and r["there"] == "both" and max(r["share_a"], r["share_b"]) > 0.05
         and not 0.2 < 1 + r["cost_change"] < 5]
if grown:
    fail(f"diff apart together: expected no function to grow or to go, got {grown} of {significant(rows)}")
rows = changes(together, slower)
either = {"parse", "render"} & set(significant(rows))
if not either:
    fail(f"diff together slower: expected parse(), or render() relative to it, got {significant(rows)}")
said = run(f"{B}/tailor", "diff", together, slower)
if not all(name in said for name in either):
    fail(f"diff together slower: expected {either}, got:\n{said}")
rows = changes(together, stripped)
if not any(r["name"] == "main" and r["there"] == "both" and r["share_a"] > 0.9 for r in rows) or "parse" in str(rows):
    fail(f"diff together stripped: expected main() on both sides, since one has no debug information, got {significant(rows)}")

# In Python
a, b = (recording(f"python{n}", 3000, PYTHON, f"{DIR}/host.py", str(n)) for n in (10000, 20000))
rows = changes(a, b)
names = {r["name"] for r in rows}
if "tax" not in names or any("Eval" in n for n in names):
    fail(f"diff of a Python program: expected its functions and none of CPython, got {names}")
if not {"tax", "text"} & set(significant(rows)):
    fail(f"diff of a Python program whose tax() does twice as much: got {significant(rows)}")
stat = json.loads(run(f"{B}/tailor", "stat", "--json", "--top", "0", a, b))["tables"]["stat"]
if not any(r["name"] == "tax" and r["n"] == 2 for r in stat):
    fail(f"stat of a Python program: expected tax, got {[r['name'] for r in stat]}")
sys.exit(bad)
END
finish
