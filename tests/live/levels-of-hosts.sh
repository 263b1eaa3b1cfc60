#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions and lines that unmodified hosts tell are levels: sample by sample they say what the columns of functions and lines say,
# all samples are in each level's total, a function that was inlined is a component of its own below the code object that it
# was inlined into, and views, filters and comparisons by these levels work.
. tests/live/begin.bash
ran=0
jits=$PWD/tests/hosts/jits

check() { # NAME ARGUMENT-OF-levels.py...
	ran=$((ran + 1))
	judge /usr/bin/python3 tests/live/levels.py "$B" "$dir" "$@"
}
has() { command -v "$1" >/dev/null || { echo "$1 is not here"; return 1; }; }

has node && check node node "$jits/fib.js" {seconds} "$dir/rounds"
has luajit && check luajit luajit "$jits/fib.lua" {seconds} "$dir/rounds"
if has javac && has java; then
	if javac -g -d "$dir" "$jits/Fib.java" "$jits/Inlined.java"; then
		check openjdk java -cp "$dir" Fib {seconds} "$dir/rounds"
		check openjdk-inlined --inlined Inlined.inner Inlined.often Inlined.rarely \
			java -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Inlined.often \
			-XX:CompileCommand=dontinline,Inlined.rarely -cp "$dir" Inlined {seconds}
	else
		fail "javac: exit $?"
	fi
fi
/usr/bin/python3 -c 'import numba' 2>/dev/null && NUMBA_DEBUGINFO=1 check numba /usr/bin/python3 tests/hosts/numba_host.py {seconds}
if has lli && [ -e "$B/hosts/inlined.bc" ]; then
	check lli --inlined inner often rarely lli --jit-kind=mcjit "$B/hosts/inlined.bc" {seconds}
fi
[ $ran -gt 0 ] || skip "none of these hosts is installed"
finish
