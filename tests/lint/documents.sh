#!/bin/bash
# SPDX-License-Identifier: MIT
# What can be checked of the documents without reading them: links lead to files and headings that exist; README.md is short and its tables
# fit a screen; the picture is small and well-formed; headings that quote a message are messages of the program.
set -u
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
mapfile -t pages < <(git ls-files '*.md')
exec /usr/bin/python3 - "$1" "${pages[@]}" <<'END'
import os
import re
import sys
import xml.dom.minidom

BUILD, PAGES = sys.argv[1], sys.argv[2:]
LINES, COLUMNS, PICTURE_BYTES = 200, 140, 40 << 10
faults = []


def anchors(path):
    """As GitHub makes them of headings."""
    out = set()
    for line in open(path):
        m = re.match(r"#+ (.*)", line)
        if m:
            out.add(re.sub(r"[^\w\- ]", "", m.group(1).strip().lower()).replace(" ", "-"))
    return out


links = 0
for page in PAGES:
    text = re.sub(r"(?ms)^\s*```.*?^\s*```|`[^`\n]*`", "", open(page).read())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        links += 1
        path, _, anchor = target.partition("#")
        at = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if re.match(r"https?:", target):
            continue
        if not os.path.exists(at):
            faults.append("%s: %s: no such file" % (page, target))
        elif anchor and anchor not in anchors(at):
            faults.append("%s: %s: no such heading" % (page, target))

lines = open("README.md").read().split("\n")
if len(lines) > LINES:
    faults.append("README.md has %d lines: more than %d; facts move to docs/" % (len(lines), LINES))
for i, line in enumerate(lines, 1):
    if line.lstrip().startswith("|") and len(line) > COLUMNS:
        faults.append("README.md:%d: a table line of %d columns: more than %d" % (i, len(line), COLUMNS))
for page in re.findall(r"docs/[\w-]+\.md", " ".join(PAGES)):
    if page not in "\n".join(lines):
        faults.append("README.md does not name %s" % page)

picture = open("docs/report.svg", "rb").read()
xml.dom.minidom.parseString(picture)
if len(picture) > PICTURE_BYTES:
    faults.append("docs/report.svg has %d bytes: more than %d" % (len(picture), PICTURE_BYTES))

# A message is put together from strings of the programs and from values: most of a heading must be found in these strings, or be what a
# format makes of some values.
strings, formats = "", []
SPEC = r"%[-+0*.\dhlzj]*[a-zA-Z]"
for name in ("tailor", "tailor-record", "libtailor.so"):
    path = os.path.join(BUILD, name)
    for m in re.finditer(rb"[\x20-\x7e]{8,}", open(path, "rb").read() if os.path.exists(path) else b""):
        if b" " in m.group():
            literals = re.split(SPEC, m.group().decode())
            strings += "\n".join(literals) + "\n"
            if len(literals) > 1 and sum(map(len, literals)) >= 16:
                formats.append(re.compile(".+?".join(map(re.escape, literals)) + ("" if literals[-1] else ".*")))


def share_found(heading):
    total = found = 0
    for part in re.split(r"…|\d+|\b[A-Z]+\b", heading):
        part = part.strip(" :;,()'")
        if " " not in part:
            continue
        total += len(part)
        at = 0
        while at < len(part):
            end = at
            while end < len(part) and part[at:end + 1] in strings:
                end += 1
            if end - at >= 10 or end == len(part):
                found += end - at
                at = end
            else:
                at += 1
    made = max((len(m.group()) for m in (f.search(heading) for f in formats) if m), default=0)
    return max(found / total, made / len(heading)) if total else 1


nr = 0
for page in [p for p in PAGES if strings and not re.match(r"tests/|dist/|jitreg/README", p)]: # those quote scripts and results
    for m in re.findall(r"(?m)^### `([^`]* [^`]*)`", open(page).read()):
        nr += 1
        if share_found(m) < 0.8:
            faults.append("%s: no program has the message `%s`" % (page, m))

if faults:
    sys.exit("\n".join(faults))
print("%d pages, %d links; %d messages are the program's" % (len(PAGES), links, nr))
END
