#!/bin/bash
# SPDX-License-Identifier: MIT
# How many lines the test engine has for the sake of a profiler (VERBOSE=1 shows them): every line that calls jitreg.h or
# carries the tracker or a tag, and the functions that exist for nothing else.  Blank lines, comments and lone braces do not
# count.  Debug information does not (an engine has it for its debugger too), nor what only tests need: the modes that the tag
# register is compared with (their code says "compare"), --outline, and names of memory.  At most 60.  The optimizer has its
# own, counted apart: most engines have fewer transformations; and so has what an agent that comes late is told (replay.c, lines
# that say "replay" in a comment), and counting executions (count.c).  No comment takes a line out of all counts.
set -u
replayed='/\* replay \*/'
code() { # without comments; of what is replayed, nothing
	grep -v "$replayed" "$1" | sed -E 's|//.*$||; s|/\*.*\*/||g; /^[[:space:]]*\/\*[^*]*$/,/\*\//d' |
		grep -vE '^[[:space:]]*$|^[[:space:]]*[{}];?$'
}
words='jitreg|JITREG|[tT]ag(\b|_|\[)|swiftself|self\)|in_register|track|announce_plan|TASK\b'
words=$words'|__runtime_text|0x7A6|DebugLocation2|MetadataRef task'
total=0 optimizer=0
for f in tests/engine/*.c tests/engine/*.h; do
	case $f in
	*/compare.[ch] | */count.[ch] | */replay.c) continue ;;
	*/optimize*.[ch] | */loops.[ch]) optimizer=$((optimizer + $(code "$f" | grep -cE "$words"))) && continue ;;
	esac
	n=$(code "$f" | grep -viE 'compare|argp_error|jitreg_memory' | grep -cE "$words")
	total=$((total + n))
	[ "${VERBOSE:-}" ] && code "$f" | grep -viE 'compare|argp_error|jitreg_memory' | grep -nE "$words" | sed "s|^|$f: |"
done
# in announce_plan: the loop over operators
total=$((total + 3))
late=$(($(code tests/engine/replay.c | grep -c .) + $(cat tests/engine/*.[ch] | grep -c "$replayed")))
counts=$(cat tests/engine/count.[ch] | code /dev/stdin | grep -c .)
echo "FIGURE the engine's lines for a profiler: $total of at most 60; the optimizer's: $optimizer of 5;" \
	"for an agent that comes late: $late of 40; for execution counts: $counts of 300"
[ $total -le 60 ] && [ "$optimizer" -le 5 ] && [ $late -le 40 ] && [ "$counts" -le 300 ]
