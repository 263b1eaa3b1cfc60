#!/bin/bash
# SPDX-License-Identifier: MIT
# Tables are as wide as COLUMNS, else as the terminal, also where a pipe to a pager stands between; in a file 80 columns.
# No line of any view, of whatif, top, diff and stat is wider than that, and no character is cut, at 40, 80, 120 and 200 columns, in a C
# and a UTF-8 locale.  Nor is a line of help.
set -u
/usr/bin/python3 - "$1/tailor" tests/golden/views/host.tlr "$1" <<'END'
import fcntl, os, pty, re, struct, subprocess, sys, termios, unicodedata

tailor, trace, build = sys.argv[1:]
bad = 0

def widest(stdout, stderr, columns=None):
    """Columns of the widest line of the report, with its output and its messages there."""
    env = {"LC_ALL": "C", "PATH": os.environ["PATH"], **({"COLUMNS": str(columns)} if columns else {})}
    p = subprocess.run([tailor, "report", "--view", "functions", trace], stdout=stdout, stderr=stderr, env=env)
    if p.returncode:
        sys.exit(f"tailor report: exit {p.returncode}")
    return p.stdout

def expect(what, text, low, high):
    global bad
    width = max(len(line) for line in text.decode().split("\n"))
    if not low <= width <= high:
        bad = 1
        print(f"tailor report --view functions, {what}: expected lines of {low} to {high} columns, got {width}:\n{text.decode()}")

master, terminal = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
null = subprocess.DEVNULL
expect("piped, no terminal", widest(subprocess.PIPE, null), 60, 80)
expect("piped, COLUMNS=100", widest(subprocess.PIPE, null, 100), 81, 100)
expect("piped, on a terminal of 100 columns", widest(subprocess.PIPE, terminal), 81, 100)
expect("piped, on a terminal of 100 columns, COLUMNS=90", widest(subprocess.PIPE, terminal, 90), 81, 90)
with open(f"{build}/golden-widths", "w+b") as f:
    widest(f, terminal)
    f.seek(0)
    expect("into a file, on a terminal of 100 columns", f.read(), 60, 80)

def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)

listed = subprocess.run([tailor, "help", "report"], capture_output=True, text=True).stdout.partition("\nViews:\n")[2]
views = [word for name in re.findall(r"^  (\w+) ", listed, re.M) for word in ("--view", name)]
golden = "tests/golden/"
commands = [["report", *views[i:i + 16], trace] for i in range(0, len(views), 16)]  # at most eight views a report
commands += [["report", *[w for v in names.split() for w in ("--view", v)], golden + "views/" + name + ".tlr"] for name, names in (
    ("memory", "memory asm cpi stalls"), ("offcpu", "offcpu resources critical"), ("whatif", "resources critical threads"),
    ("queries", "queries plan timeline marks"), ("several", "components processes tree"))]
commands += [["whatif", golden + "views/whatif.tlr"], ["top", "--once", trace], ["stat", golden + "v1.tlr", golden + "v2.tlr"],
             ["diff", "--all", golden + "v1.tlr", golden + "v2.tlr"]]
if len(views) < 50:
    sys.exit(f"tailor help report: expected its views, got {views}")
for command in commands:
    for width, locale in (40, "C"), (40, "C.UTF-8"), (80, "C.UTF-8"), (120, "C"), (200, "C.UTF-8"):
        environment = {"LC_ALL": locale, "COLUMNS": str(width), "PATH": os.environ["PATH"]}
        p = subprocess.run([tailor, *command], capture_output=True, env=environment)
        what = f"COLUMNS={width} LC_ALL={locale} tailor {' '.join(command)}"
        try:
            wide = [l for l in p.stdout.decode("ascii" if locale == "C" else "utf-8").split("\n") if columns(l) > width]
        except UnicodeDecodeError as e:
            wide = [e]
        if wide or p.returncode or not p.stdout:
            bad = 1
            print(f"{what}: exit {p.returncode}, expected whole lines of at most {width} columns, got {wide[:3]} {p.stderr[:300]}")

def help_of(*command):
    return subprocess.run([tailor, "help", *command], capture_output=True, text=True).stdout

for name in re.findall(r"^  ([a-z]+)  ", help_of(), re.M):
    odd = [line for line in help_of(name).split("\n") if columns(line) > 80 or line.isspace()]
    if re.search(r": $", help_of(name), re.M):
        bad = 1
        print(f"tailor help {name}: expected words behind each colon, got {help_of(name)}")
    if odd:
        bad = 1
        print(f"tailor help {name}: expected lines of at most 80 columns, none of blanks alone, got {odd}")
for name, sentence in ((), "TAILOR_BUDGET"), (("report",), "Usage: tailor report [OPTION...] [TRACE]"), (("whatif",), "[TRACE...]"), (
        ("import",), "perf record \\"), (("overhead",), "baseline: (none)"), (("db",), "the server's address"), (
        ("report",), "all tables but the plans)"):
    if " ".join(sentence.split()) not in " ".join(help_of(*name).split()):
        bad = 1
        print(f"tailor help {' '.join(name)}: expected {sentence}, got {help_of(*name)}")
sys.exit(bad)
END
