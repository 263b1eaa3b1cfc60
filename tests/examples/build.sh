#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the worked examples: tests/examples/build.sh BUILD -> BUILD/examples/.  NAME-without is NAME without the lines that are there for
# the profiler: those that end in a comment "jitreg"; "jitreg, else: CODE" stands for CODE there.  An example whose library is not
# installed is left out, and the tests say so.
set -u
out=$1/examples
here=$(dirname "$0")
llvm=${LLVM_CONFIG:-llvm-config}
mkdir -p "$out"
exec 8>"$out/lock" # tests side by side build them once
flock 8

without() {
	sed -E 's%/\* jitreg, else: (.*) \*/$%// jitreg, else: \1%; s%^([[:space:]]*).*// jitreg, else: (.*)$%\1\2%
		/(\/\/|\/\*) jitreg( \*\/)?$/d' "$1"
}

newer() { [ ! -e "$2" ] || [ "$1" -nt "$2" ]; }
# build SOURCE COMPILER OPTION...
build() {
	local file=$1 source=$here/$1 name=${1%.*} compiler=$2 with old=
	shift 2
	for of in "$source" "$here/work.h" "$here/llvm_versions.hpp" "$here/../../jitreg/jitreg.h" "$here/../../jitreg/jitreg.hpp" "$0"; do
		newer "$of" "$out/$name" && old=1
	done
	[ "$old" ] || return 0
	without "$source" >"$out/without_$file"
	"$compiler" -O1 -g -Wall -Wextra -Werror -Ijitreg "$source" "$@" -ldl -o "$out/$name.new" &
	with=$!
	"$compiler" -O1 -Wall -Wextra -Werror -I"$here" "$out/without_$file" "$@" -ldl -o "$out/$name-without" &
	wait $! && wait $with && mv "$out/$name.new" "$out/$name"
}

has() { echo "#include <$1>" | g++ -x c++ "${@:2}" -E -o /dev/null - 2>/dev/null; }

build emits_c.c gcc -ffixed-r13 -rdynamic || exit 1
build vectorized.c gcc || exit 1
if has coroutine -std=c++20; then build tasks.cpp g++ -std=c++20 -pthread || exit 1; fi
if has libgccjit.h; then build libgccjit.c gcc -rdynamic -lgccjit || exit 1; fi
if has asmjit/x86.h; then build asmjit.cpp g++ -std=c++17 -ffixed-r13 -lasmjit || exit 1; fi
if command -v "$llvm" >/dev/null; then
	build llvm_orc.cpp g++ -std=c++17 -ffixed-r13 -isystem "$("$llvm" --includedir)" $("$llvm" --ldflags --libs) || exit 1
fi
exit 0
