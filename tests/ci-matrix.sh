#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds and tests with each compiler and sanitizer that is installed: tests/ci-matrix.sh BUILD [LAYER | LAYER/NAME]...
# (default: unit golden).  Each has a folder of its own, BUILD/matrix/NAME, with its log; ONLY="gcc-12 thread" takes some of them.
# Exit status 1 when one failed.  A compiler that is missing is named, with the package that has it, and fails nothing; nor do
# warnings, which lint/warnings refuses in the product.
set -u
B=$1
shift
tests=${*:-unit golden}
mkdir -p "$B/matrix"
bad=0
printf '%-18s %-12s %8s  %s\n' configuration compiler seconds result

missing() { # COMMAND
	local candidate
	candidate=$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9].*\)/\1/p')
	if [ -n "$candidate" ]; then
		echo "skipped, because $1 is not installed (apt-get install $1 has $candidate)"
	else
		echo "skipped, because $1 is not installed, and no package here has it"
	fi
}

row() { # NAME COMPILER TESTS MAKE-ARGUMENT...
	local name=$1 cc=$2 what=$3 begin=$SECONDS status result log=$B/matrix/$1.log
	shift 3
	[ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $name "* ]] || return
	if ! command -v "$cc" >/dev/null; then
		printf '%-18s %-12s %8s  %s\n' "$name" "$cc" - "$(missing "$cc")"
		return
	fi
	make --no-print-directory B="$B/matrix/$name" CC="$cc" "$@" check T="$what" >"$log" 2>&1
	status=$?
	result=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
	[ $status = 0 ] || bad=1
	[ -n "$result" ] || result="it does not build: $(grep -E -m 1 'error|Error|undefined reference' "$log")"
	printf '%-18s %-12s %8d  %s\n' "$name" "$("$cc" -dumpfullversion 2>/dev/null || "$cc" -dumpversion)" $((SECONDS - begin)) "$result"
	[ $status = 0 ] || { grep -E '^FAILED' "$log"; echo "  $log"; }
}

row gcc-12 gcc-12 "$tests"
row clang-14 clang-14 "$tests"
row clang-19 clang-19 "$tests"
row address,undefined gcc "$tests" SAN=address,undefined
row thread gcc unit SAN=thread # golden tests are of one thread
exit $bad
