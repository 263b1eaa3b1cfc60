#!/bin/sh
# SPDX-License-Identifier: MIT
# What differs from one distribution to another, found anew by each make: dist/configure.sh BUILD CC [LLVM_CONFIG]
#
#   BUILD/config.mk     the libraries' names, LLVM, headers that are missing
#   BUILD/tools/        llvm-config, lli, clang, clang-repl, llvm-mca, wasm-ld … of one version: the first in PATH for make and tests
#
# LLVM is the newest of 14 to 21 whose headers and library are there, unless LLVM_CONFIG names one.  Neither file changes when nothing
# has changed: what depends on it is not built again.
set -u
here=$(dirname "$0")
B=$1 cc=$2 llvm=${3:-}
mkdir -p "$B/tools"

# ------------------------------------------------------------------------------------------------------------------ LLVM
newest_first="21 20 19 18 17 16 15 14"
usable() { [ -f "$("$1" --includedir 2>/dev/null)/llvm-c/LLJIT.h" ] && "$1" --libs >/dev/null 2>&1; }
if [ -z "$llvm" ]; then
	for n in $newest_first; do
		for c in "llvm-config-$n" "/usr/lib/llvm-$n/bin/llvm-config" "/usr/lib/llvm$n/bin/llvm-config" "llvm-config-64-$n"; do
			[ -n "$llvm" ] || ! usable "$c" || llvm=$c
		done
	done
	[ -n "$llvm" ] || ! usable llvm-config || llvm=llvm-config
fi
llvm_folder=$([ -z "$llvm" ] || "$llvm" --bindir 2>/dev/null)
includes=$([ -z "$llvm" ] || "$llvm" --includedir 2>/dev/null)
llvm_libs() {
	[ -z "$llvm" ] || echo "$("$llvm" --ldflags 2>/dev/null)" \
		"$("$llvm" --link-shared --libs 2>/dev/null || "$llvm" --libs --system-libs 2>/dev/null)" | tr '\n' ' '
}

# A tool of that LLVM, else of the newest there is, else by its plain name.
tool() {
	for f in "${llvm_folder:-/nonexistent}/$1" $(for n in $newest_first; do echo "/usr/lib/llvm-$n/bin/$1 $1-$n"; done) "$1"; do
		case $f in */*) ;; *) f=$(command -v "$f" 2>/dev/null) || continue ;; esac
		case $f in "$PWD/$B/tools/"* | "$B/tools/"*) continue ;; esac # the one that was found before
		[ -x "$f" ] || continue
		echo "$f"
		return
	done
}
link() { # NAME TARGET: changed only when it leads elsewhere
	if [ -z "$2" ]; then
		rm -f "$B/tools/$1"
	elif [ "$(readlink "$B/tools/$1")" != "$2" ]; then
		ln -sfn "$2" "$B/tools/$1"
	fi
}
# (a program of that name in PATH, however llvm-config was called)
[ -z "$llvm" ] || link llvm-config "$(command -v "$llvm")"
for t in lli clang clang++ clang-repl llvm-mca llvm-mc llvm-link wasm-ld; do link "$t" "$(tool "$t")"; done

# ------------------------------------------------------------------------------------------------------------- libraries
library() { [ "$("$cc" -print-file-name="$1" 2>/dev/null)" != "$1" ]; }
one_of() { # the first library NAME that can be linked
	for l; do ! library "lib$l.so" || { echo "$l"; return; }; done
	echo "$1"
}
static() { if library "lib$1.a"; then echo "-l:lib$1.a"; else echo "-l$1"; fi; }
msgpack=$(one_of msgpack-c msgpackc)

# All headers that cannot be included, by one run of the preprocessor.
missing=$(grep -v '^#' "$here/libraries" | while read -r header rest; do
	printf '#if !__has_include(<%s>)\nMISSING %s\n#endif\n' "$header" "$header"
done | "$cc" ${includes:+-isystem "$includes"} -E - 2>/dev/null | sed -n 's/^MISSING //p' | tr -d ' ' | tr '\n' ' ')

# A library takes what its own static part needs (elfutils' and Zydis' do in some releases).
{
	echo "# made by dist/configure.sh"
	echo "LLVM_CONFIG := $llvm"
	echo "LLVM_MAJOR := $([ -z "$llvm" ] || "$llvm" --version 2>/dev/null | sed 's/\..*//')"
	echo "LLVM_CFLAGS := ${includes:+-isystem $includes}"
	echo "LLVM_LIBS := $(llvm_libs)"
	echo "MSGPACK_LIB := -l$msgpack"
	echo "CURSES_LIB := -lncursesw$(! library libtinfo.so || echo " -ltinfo")"
	echo "RECORD_LIBS := $(static pfm) $(static "$msgpack") $(static zstd) $(static lzma) $(static seccomp)"
	echo "MISSING_HEADERS := $missing"
} >"$B/config.new"
if cmp -s "$B/config.new" "$B/config.mk"; then
	rm "$B/config.new"
else
	mv "$B/config.new" "$B/config.mk"
fi
