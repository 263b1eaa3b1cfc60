#!/bin/bash
# SPDX-License-Identifier: MIT
# What a terminal would obey in the names of a trace, in a path, an argument or a file of the user, is not obeyed in any message: standard
# error has one line for each, without a control character.
. tests/golden/begin.bash
exec /usr/bin/python3 - "$B" "$dir" <<'END'
import os, re, subprocess, sys
from trace_file import RECORDS, Trace, record

B, DIR = sys.argv[1:]
TITLE = "\x1b]0;planted\x07"  # a terminal's title
NAMES = [TITLE + "a", "b\x9b31m", "c\u202ed", "e\nf"]
bad = 0

def fail(what, expected, actual):
    global bad
    bad += 1
    print(f"tailor {' '.join(what)!a}: expected {expected}, got {actual}")

header = record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]])
for i, name in enumerate(["task-clock" + NAMES[0], *NAMES]):
    header += record("EVENT", 0, i, name, "ns", 1, 1, 100000, 0, 0, 0, 0, 0, "cpu", 0)
body = record("PROCESS", 7, 1, "/usr/bin/host", "host")
for i, name in enumerate(NAMES):
    body += record("LEVEL", 7, i + 1, 0, name, []) + record("COMPONENT", 7, i + 1, 0, i + 1, name, "")
    body += record("MARK", 7, 1, i + 1, 0, 1, 0, 0, name, "") + record("MARK", 7, 2, i + 1, 0, 1, 0, 0, name, "", time_ns=10**6)
t = Trace(header)
t.add(RECORDS, body)
t.add_ips([0x1000] * 10, 1000, pid=7)
path = f"{DIR}/t.tlr"
t.write(path)
named = f"{DIR}/\x1b[2Jnone.tlr"
table = f"{DIR}/table"
open(table, "w").write(f"processors {TITLE}\n")
level = NAMES[0]

# Arguments, and whether the sentence has a name of the trace in it.
asked = [(["report", f"--{o}", "nothing", path], True) for o in ("event", "component", "mark")]
asked += [(["report", "--component", f"{level}:nothing", path], True), (["report", "--below", f"{level}:nothing", path], True),
          (["report", "--below", "nothing", path], True), (["report", "--view", "components", "--level", "nothing", path], True),
          (["diff", "--event", "nothing", path, path], True), (["diff", "--level", "nothing", path, path], True),
          (["html", "--event", "nothing", "-o", f"{DIR}/x.html", path], True), (["stat", "--event", "nothing", path, path], True),
          (["export", "-f", "folded", "--level", "nothing", path], True), (["export", "-f", "csv", "--mark", "nothing", path], True),
          (["report", "--view", "components", "--table", "nothing", path], True),
          (["whatif", "--resources", table, path], False), (["report", "--view", "resources", "--resources", table, path], False),
          (["report", named], False), (["scrub", "-o", f"{named}/x", path], False), (["run", "-o", f"{named}/x", "--", "true"], False),
          (["import", named], False), (["attach", TITLE], False), (["record", TITLE], False), (["db", "report", named], False),
          (["report", "--view", TITLE, path], False), (["export", "-f", TITLE, path], False), (["run", "--", TITLE], False),
          (["overhead", "--", TITLE], False), (["check", named], False), (["top", named], False), ([TITLE], False),
          (["help", "--completion", TITLE], False), (["doctor", TITLE], False)]
escaped = 0
for arguments, has_name in asked:
    p = subprocess.run([f"{B}/tailor", *arguments], capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL)
    said = p.stderr.decode("utf-8", "surrogateescape")
    raw = re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\udc80-\udcff]", said)
    if raw:
        fail(arguments, "no control character in a message", repr(said))
    if has_name and ("planted" not in said or "\\x1b]0;planted\\x07" not in said):
        fail(arguments, "the name of the trace, escaped", f"exit {p.returncode}, {said!r}")
    if not said and p.returncode and arguments[0] != "doctor": # which says it on standard output
        fail(arguments, "a sentence", f"exit {p.returncode}")
    escaped += "\\x1b" in said
    if arguments[0] == "doctor" and re.search(b"[\x00-\x09\x0b-\x1f]", p.stdout):
        fail(arguments, "no control character", repr(p.stdout))
# what is printed cannot be written: one sentence, from every command that prints
v2 = "tests/golden/v2.tlr"
for arguments in [["diff", v2, v2], ["diff", "--json", v2, v2], ["diff", "--methods", v2], ["stat", v2, v2], ["report", v2],
                  ["report", "--json", v2], ["report", "--view", "plan", v2], ["check", v2], ["dump", v2], ["unwind", v2],
                  ["whatif", "tests/golden/views/whatif.tlr"], ["top", v2]]:
    with open("/dev/full", "w") as full:
        p = subprocess.run([f"{B}/tailor", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    said = [l for l in p.stderr.splitlines() if "cannot write the output" in l]
    if p.returncode != 1 or len(said) != 1:
        fail([*arguments, ">/dev/full"], "exit 1 and one sentence", f"exit {p.returncode}, {p.stderr!r}")
if escaped < 20:
    fail(["..."], "20 messages with what was planted, at least", escaped)
print(f"{escaped} messages of {len(asked)} have what was planted, escaped")
sys.exit(bad > 0)
END
