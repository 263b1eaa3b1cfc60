#!/bin/bash
# SPDX-License-Identifier: MIT
# make install: what is installed works from where it is put, also when it is moved; the header is found by pkg-config; every command has
# a manual page with the options of `tailor help`; completion is installed; make uninstall leaves nothing.
. tests/live/begin.bash
unset MAKEFLAGS MAKELEVEL
# with the flags that it was built with, so that nothing is built anew
make -s -o "$B/tailor" -o "$B/tailor-record" -o "$B/libtailor.so" B="$B" prefix=/opt/t DESTDIR="$dir/root" install >"$dir/log" 2>&1 ||
	{ cat "$dir/log"; exit 1; }
for f in bin/tailor lib/tailor/libtailor.so lib/tailor/tailor-record include/jitreg.h include/jitreg.hpp include/jitreg_place.h \
	share/pkgconfig/jitreg.pc share/man/man1/tailor.1 share/bash-completion/completions/tailor share/zsh/site-functions/_tailor; do
	[ -f "$dir/root/opt/t/$f" ] || fail "not installed: $f"
done
mv "$dir/root/opt/t" "$dir/moved"
tailor=$dir/moved/bin/tailor

# Leaves the number of samples in generated code in $n.  The host announces all of it before it runs it, so all of them have a function.
named() { # TRACE
	"$tailor" report --json "$1" >"$dir/json" || { fail "report: exit $?"; return 1; }
	read -r n named < <(/usr/bin/python3 -c '
import json, sys
jit = json.load(open(sys.argv[1]))["jit"]
print(jit["samples"], jit["named"])' "$dir/json")
	[ "$n" = "$named" ] || fail "expected all $n samples in generated code to have a function, got $named: $(cat "$dir/out" "$dir/err")"
}
ended() { "$tailor" dump "$dir/p.tlr" 2>/dev/null | grep -q ' END '; }
run() { # SECONDS
	TAILOR_DEBUG=1 timeout 300 "$tailor" run -o "$dir/t.tlr" -- "$B/hosts/unloads" 1000 "$1" >"$dir/out" 2>"$dir/err" ||
		{ fail "run: exit $?: $(cat "$dir/err")"; return 1; }
	named "$dir/t.tlr"
}
preloaded() { # SECONDS
	rm -f "$dir/p.tlr"
	TAILOR_DEBUG=1 LD_PRELOAD=$dir/moved/lib/tailor/libtailor.so TAILOR_OUTPUT=$dir/p.tlr \
		timeout 300 "$B/hosts/unloads" 1000 "$1" >"$dir/out" 2>"$dir/err" ||
		{ fail "preloaded: exit $?: $(cat "$dir/err")"; return 1; }
	wait_for ended && named "$dir/p.tlr"
}
gather 10 run
gather 10 preloaded

if command -v pkg-config >/dev/null; then
	echo '#include <jitreg.h>
	int main(void) { return jitreg_level(1, "x", 0, 0) == -ENOSYS ? 0 : 1; }' >"$dir/host.c"
	export PKG_CONFIG_PATH=$dir/moved/share/pkgconfig
	gcc -o "$dir/host" "$dir/host.c" $(pkg-config --define-variable=prefix="$dir/moved" --cflags --libs jitreg) && "$dir/host" ||
		fail "pkg-config: the header does not compile or work"
	[ "tailor $(pkg-config --modversion jitreg)" = "$("$tailor" --version)" ] || fail "pkg-config: another version"
fi

for command in $("$tailor" help | sed -n '/^  [a-z]/p; /^Environment/q' | awk '$1 != "help" { print $1 }'); do
	page=$dir/moved/share/man/man1/tailor-$command.1
	[ -f "$page" ] || { fail "no manual page for $command"; continue; }
	for part in '^\.TH TAILOR' '^\.SH NAME' '^\.SH SYNOPSIS' '^\.SH DESCRIPTION'; do
		grep -q "$part" "$page" || fail "$page: no '$part'"
	done
	for option in $("$tailor" help "$command" | grep -oE '^ +(-[a-zA-Z?], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
		sed 's/\\-/-/g' "$page" | grep -qE "^\.B .*$option" || fail "$page: nothing about $option"
	done
	misplaced=$("$tailor" help "$command" | grep -nE '^ {20,}--[^ ]+  |.{81}') # a line of its own for each option, none too wide
	[ -z "$misplaced" ] || fail "tailor help $command: $misplaced"
	if command -v groff >/dev/null; then
		warnings=$(groff -man -Tutf8 -ww -Wbreak "$page" 2>&1 >/dev/null | head -n 3)
		[ -z "$warnings" ] || fail "$page: $warnings"
	fi
done

"$tailor" help --completion bash | cmp -s - "$dir/moved/share/bash-completion/completions/tailor" || fail "another completion for bash"
"$tailor" help --completion zsh | cmp -s - "$dir/moved/share/zsh/site-functions/_tailor" || fail "another completion for zsh"

mkdir -p "$dir/root/opt"
mv "$dir/moved" "$dir/root/opt/t"
make -s B="$B" prefix=/opt/t DESTDIR="$dir/root" uninstall || fail "uninstall: exit $?"
left=$(find "$dir/root" -type f)
[ -z "$left" ] || fail "uninstall: left $left"
finish
