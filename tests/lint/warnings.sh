#!/bin/bash
# SPDX-License-Identifier: MIT
# Both compilers, warnings as errors.  The one that made BUILD has been through already where WERROR was set.  Gcc has some of its warnings
# (what may be uninitialized) only where it optimizes, clang all of them before it makes code, so that none is made.
# Not quick: compiles the tree twice.
set -u
made_by() { grep -q "^$1 .* -Werror .* -O[1-3]" "$B/flags"; }
B=$1
if ! made_by gcc && ! make -s -j"$(nproc)" B="$B/lint-gcc" CC=gcc WERROR=1 CFLAGS=-O1 all; then
	echo "make CC=gcc WERROR=1 all: failed"
	exit 1
fi
if ! made_by clang; then
	make -nB --no-print-directory B="$B/lint-clang" CC=clang WERROR=1 CFLAGS=-O0 all |
		sed -n 's/ -MMD -MP -c \(.*\) -o [^ ]*$/ -fsyntax-only \1/p' | grep '^clang ' >"$B/lint-clang.commands"
	nr=$(grep -c . "$B/lint-clang.commands")
	[ "$nr" -ge 300 ] || { echo "expected 300 files and more to compile with clang, got $nr"; exit 1; }
	if ! xargs -d '\n' -n 1 -P "$(nproc)" sh -c <"$B/lint-clang.commands" ||
		! make -s B="$B/lint-clang" CC=clang WERROR=1 "$B/lint-clang/table.wasm"; then
		echo "make CC=clang WERROR=1 all: failed"
		exit 1
	fi
fi
echo "gcc and clang build everything without a warning"
