#!/bin/bash
# SPDX-License-Identifier: MIT
# Scripts that are taken into pictures and pages are scripts, and nothing in them ends the element that they stand in.
set -u
bad=0
command -v node >/dev/null || { echo "skipped, because node is not installed"; exit 77; }
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }
nr=0
for f in $(git ls-files '*.js'); do
	if grep -qE '^(import|export) ' "$f"; then # Node before 20.19 takes a file without package.json for no module
		node --input-type=module --check <"$f" || { echo "$f: does not parse"; bad=1; }
	else
		node --check "$f" || bad=1
	fi
	case $f in
	analyzer/*) ! grep -nE ']]>|</script' "$f" || { echo "$f: ends what it stands in"; bad=1; } ;;
	esac
	nr=$((nr + 1))
done
[ $nr -gt 0 ] || { echo "expected scripts, found none"; bad=1; }
[ $bad = 0 ] && echo "$nr scripts parse"
exit $bad
