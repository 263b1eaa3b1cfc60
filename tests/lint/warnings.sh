#!/bin/bash
# SPDX-License-Identifier: MIT
# Both compilers, warnings as errors.  The one that made BUILD has been through already where WERROR was set.  Clang has its warnings
# before it optimizes, gcc some of them (what may be uninitialized) only then.
# Not quick: compiles the tree twice.
set -u
for cc in clang gcc; do
	level=-O1
	[ $cc != clang ] || level=-O0
	! grep -q "^$cc .* -Werror .* -O[1-3]" "$1/flags" || continue
	if ! make -s -j"$(nproc)" B="$1/lint-$cc" CC=$cc WERROR=1 CFLAGS=$level all; then
		echo "make CC=$cc WERROR=1 all: failed"
		exit 1
	fi
done
echo "gcc and clang build everything without a warning"
