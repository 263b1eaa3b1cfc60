#!/bin/bash
# SPDX-License-Identifier: MIT
# What every text file of the tree has: a licence line, no trailing blanks, at most 140 columns, scripts that parse;
# and subjects of at most 72 characters in the last 30 commits.
set -u
bad=0
say() { echo "$1"; bad=1; }
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
for f in $(git ls-files '*.c' '*.h' '*.sh' '*.bash' '*.py' Makefile .ci/run); do
	head -n 3 "$f" | grep -q 'SPDX-License-Identifier: MIT' || say "$f: no SPDX line"
done
for f in $(git ls-files '*.c' '*.h' '*.sh' '*.bash' '*.py' '*.md' Makefile); do
	out=$(grep -nE -m 3 '[[:blank:]]+$' "$f") && say "$f: trailing blanks: $out"
done
for f in $(git ls-files '*.c' '*.h' '*.sh' '*.bash'); do
	out=$(expand -t 8 "$f" | LC_ALL=C.UTF-8 grep -nE -m 3 '^.{141,}') && say "$f: more than 140 columns: $out"
done
for f in $(git ls-files '*.sh' .ci/run); do
	bash -n "$f" || say "$f does not parse"
	[ -x "$f" ] || say "$f is not executable"
done
while read -r line; do say "a commit's subject has more than 72 characters: $line"; done < <(git log -30 --format=%s | grep -E '^.{73,}')
[ $bad = 0 ] && echo "every file keeps the style"
exit $bad
