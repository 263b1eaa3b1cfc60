#!/bin/bash
# SPDX-License-Identifier: MIT
# The arrows between the folders, and one door for each third-party library.
set -u
bad=0
say() { echo "$1"; bad=1; }
git() { command git -c safe.directory='*' "$@"; } # also in a checkout of another user's
git ls-files --error-unmatch Makefile >/dev/null 2>&1 || { echo "skipped, because this is not git's checkout, or git is missing"; exit 77; }

# Which part a file is of: its first two path components where the second one is a part of its own.
part_of() {
	case $1 in
	agent/guest/*) echo guest ;;
	agent/recorder/*) echo recorder ;;
	*) echo "${1%%/*}" ;;
	esac
}
# Parts that a part may include from (itself is always allowed).  analyzer/cmd.h is the command's contract.
allowed() {
	case $1 in
	jitreg) echo "" ;;
	guest) echo "jitreg shim" ;;
	shim) echo "jitreg guest" ;;
	recorder) echo "jitreg" ;;
	analyzer) echo "jitreg" ;;
	*) echo "any" ;;
	esac
}

sources=$(git ls-files '*.c' '*.h')
declare -A home
for f in $sources; do home[$(basename "$f")]+="$f "; done

for f in $sources; do
	from=$(part_of "$f")
	may=" $(allowed "$from") $from "
	case $may in *" any "*) continue ;; esac
	for h in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$f"); do
		for target in ${home[$(basename "$h")]:-}; do
			to=$(part_of "$target")
			[ "$target" = analyzer/cmd.h ] && continue
			case $may in *" $to "*) ;; *) say "$f includes $h of $to: the arrow $from -> $to does not exist" ;; esac
		done
		[ -n "${home[$(basename "$h")]:-}" ] || say "$f includes \"$h\", which is not in the tree"
	done
done

# Library headers and the files that are their door.
door() { # PATTERN ALLOWED-REGEX NAME
	for f in $(git grep -lE "#[[:space:]]*include[[:space:]]*<($1)" -- '*.c' '*.h' ':!tests'); do
		echo "$f" | grep -qE "$2" || say "$f includes $3, whose door is $2"
	done
}
door 'perfmon/' '^agent/recorder/event' libpfm4
door 'msgpack' '^(agent/recorder/trace_writer|analyzer/trace/)' msgpack-c
door 'zstd' '^(agent/recorder/(trace_writer|perf_packed)|analyzer/trace/)' zstd
door 'elfutils/|dwarf\.h|libelf\.h|gelf\.h' '^analyzer/symbols/' libdw
door 'libunwind' '^analyzer/unwind/' libunwind
door 'Zydis' '^analyzer/symbols/insn' Zydis
door 'muParser' '^analyzer/compare/expression' muparser
door 'jansson' '^analyzer/view/' jansson

# The part of the analyzer that will also run in a browser needs nothing but memcpy and friends.
for f in $(git ls-files 'analyzer/table/*.c' 'analyzer/table/*.h'); do
	for h in $(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*<\([^>]*\)>.*/\1/p' "$f"); do
		case $h in
		stdint.h | stddef.h | stdbool.h | string.h | limits.h) ;;
		*) say "$f includes <$h>: analyzer/table/ has no libc" ;;
		esac
	done
done
[ $bad = 0 ] && echo "all arrows and doors hold"
exit $bad
