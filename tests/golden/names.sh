#!/bin/bash
# SPDX-License-Identifier: MIT
# Names that are long, wide, combine, turn lines around, are no UTF-8, or mean something to a terminal or a spreadsheet break no view:
# no line is wider than 80 columns, nothing but visible text reaches a terminal, every CSV table has as many cells in each row, JSON is
# JSON, and a picture is XML.
#
# names.tlr: BUILD/bench/synthetic 400 13 names.tlr events names memory (make BUILD/bench/synthetic).
set -u
B=$1
/usr/bin/python3 - "$B/tailor" tests/golden/views/names.tlr <<'END'
import csv, io, json, os, re, subprocess, sys, tempfile, unicodedata, xml.dom.minidom

tailor, trace = sys.argv[1:]
bad = 0

def run(locale, *arguments):
    p = subprocess.run([tailor, *arguments], capture_output=True, env={"LC_ALL": locale, "COLUMNS": "80", "PATH": os.environ["PATH"]})
    if p.returncode:
        fail(arguments, "exit status 0", f"{p.returncode}, {p.stderr[:300]!r}")
    return p.stdout

def fail(arguments, expected, actual):
    global bad
    bad += 1
    print(f"tailor {' '.join(arguments)}: expected {expected}, got {actual}")

def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)

help_text = run("C", "help", "report").decode()
views = re.findall(r"^  (\w+)", help_text.split("\nViews:")[1].split("\n\n")[0], re.M)
if len(views) < 20:
    sys.exit(f"tailor help report: expected at least 20 views, got {views}")
wide = combining = 0
for view in [None, *views]:
    for more in [], ["--intervals"], ["--hottest"], ["--top", "0"]:
        for locale in "C.UTF-8", "C":
            arguments = ["report", *(["--view", view] if view else []), *more, trace]
            if not view and more == ["--intervals"]:
                continue
            out = run(locale, *arguments)
            try:
                text = out.decode("utf-8" if locale == "C.UTF-8" else "ascii")
            except UnicodeDecodeError as e:
                fail(arguments, f"text in {locale}", e)
                continue
            for line in text.split("\n"):
                if columns(line) > 80:
                    fail(arguments, "at most 80 columns", f"{columns(line)}: {line!r}")
                if any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs") for c in line):
                    fail(arguments, "visible text", repr(line))
                if line.endswith(" "):
                    fail(arguments, "no blank at a line's end", repr(line))
                wide += "表" in line
                combining += "\u0301" in line
    if not view:
        continue
    for more in [], ["--intervals"]:
        arguments = ["report", "--view", view, *more, "--json", trace]
        tables = json.loads(run("C.UTF-8", *arguments).decode()).get("tables", {})
        arguments = ["report", "--view", view, *more, "--csv", trace]
        parts = run("C.UTF-8", *arguments).decode().split("\n\n")
        for part in parts:
            rows = list(csv.reader(io.StringIO(part)))
            if len({len(r) for r in rows}) > 1 or (rows and len(set(rows[0])) != len(rows[0])):
                fail(arguments, "as many cells in each row, under different keys", f"{rows[0]} and rows of {({len(r) for r in rows})}")
            for cell in (c for r in rows for c in r):
                if any(ord(c) < 0x20 for c in cell) or cell[:1] in ("=", "+", "@"):
                    fail(arguments, "nothing that a spreadsheet would run", repr(cell))
        if sum(len(rows) for rows in tables.values()) != sum(max(p.rstrip("\n").count("\n"), 0) for p in parts if p.strip()):
            fail(arguments, "as many rows as JSON has", [len(rows) for rows in tables.values()])
for picture, dots in (trace, True), ("tests/golden/views/code.tlr", False):
    with tempfile.NamedTemporaryFile(suffix=".svg") as f:
        arguments = ["report", "--view", "memory", "--svg", f.name, picture]
        run("C", *arguments)
        drawn = len(xml.dom.minidom.parse(f.name).getElementsByTagName("path"))
        if (drawn > 0) != dots:
            fail(arguments, "a picture with dots" if dots else "one without", f"{drawn} paths")
if not wide or not combining:
    fail(["report"], "wide and combining names among what was shown", f"{wide} and {combining} lines")
sys.exit(bad != 0)
END
