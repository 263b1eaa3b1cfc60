#!/bin/bash
# SPDX-License-Identifier: MIT
# Tables are as wide as COLUMNS, else as the terminal, also where a pipe to a pager stands between; in a file 80 columns.
set -u
/usr/bin/python3 - "$1/tailor" tests/golden/views/host.tlr "$1" <<'END'
import fcntl, os, pty, struct, subprocess, sys, termios

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
sys.exit(bad)
END
