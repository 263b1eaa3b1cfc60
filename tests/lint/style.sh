#!/bin/bash
# SPDX-License-Identifier: MIT
# What every text file of the tree has: a licence line, no trailing blanks, at most 140 columns, of C also 900 lines, scripts that parse;
# no file is called as options are, since that is what a mistyped command leaves; and subjects of at most 72 characters in every commit
# since this is looked at.
set -u
bad=0
say() { echo "$1"; bad=1; }
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
git ls-files -- '-*' | grep . && say "a file is called as an option is"
kinds=('*.[ch]' '*.[ch]pp' '*.cc' '*.sh' '*.bash' '*.zsh' '*.py' '*.md' '*.js' '*.mjs' '*.css' '*.html' '*.rs' '*.go' '*.java' '*.map')
git ls-files -z "${kinds[@]}" Makefile .ci/run | xargs -0 /usr/bin/python3 -c '
import re, sys
LONG = ("jitreg/engines/postgres_layout.c", "jitreg/jitreg.h") # a generated table; the public header, which hosts copy as one file
bad = 0
for path in sys.argv[1:]:
    with open(path, encoding="utf-8", newline="\n") as f:
        lines = f.read().split("\n")
    found = []
    if not path.endswith((".md", ".html")): # a page has the fragments as they are
        found += ["no SPDX line"] * (not any("SPDX-License-Identifier: MIT" in l for l in lines[:3]))
    if path != ".ci/run":
        found += [f"{n}: trailing blanks: {l}" for n, l in enumerate(lines, 1) if l.endswith((" ", "\t"))]
    if path.endswith((".c", ".h", ".sh", ".bash", ".js", ".mjs", ".css", ".html")):
        found += [f"{n}: more than 140 columns: {l}" for n, l in enumerate(lines, 1) if len(l.expandtabs(8)) > 140]
    if path.endswith((".c", ".h")) and len(lines) > 901 and path not in LONG:
        found += ["more than 900 lines"]
    found += [f"{n}: mark of a merge: {l}" for n, l in enumerate(lines, 1) if l.startswith(("<" * 7 + " ", ">" * 7 + " "))]
    for what in found[:3]:
        print(f"{path}: {what}")
    bad |= bool(found)
sys.exit(bad)' || bad=1
for f in $(git ls-files '*.sh' .ci/run); do
	bash -n "$f" || say "$f does not parse"
	[ -x "$f" ] || say "$f is not executable"
done
SINCE=2f4db2e # older ones stay as they are; a shallow checkout has only others
! git cat-file -e $SINCE 2>/dev/null || since=$SINCE..HEAD
while read -r line; do say "a commit's subject has more than 72 characters: $line"; done < <(git log --format='%h %s' ${since:-HEAD} |
	grep -E '^[0-9a-f]+ .{73,}')
[ $bad = 0 ] && echo "every file keeps the style"
exit $bad
