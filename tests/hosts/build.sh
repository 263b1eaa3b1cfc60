#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the programs that live tests profile: tests/hosts/build.sh BUILD -> BUILD/hosts/.  What cannot be built here is
# left out, and the tests that need it skip.
set -u
out=$1/hosts
here=$(dirname "$0")
mkdir -p "$out"
exec 8>"$out/lock" # tests side by side build them once
flock 8
newer() { [ ! -e "$2" ] || [ "$1" -nt "$2" ] || [ "$here/../../jitreg/jitreg.h" -nt "$2" ]; }
for c in "$here"/*.c; do
	name=$(basename "$c" .c)
	case $name in
	wraps | fakejit | hidden_jit | many_jit_lists | jit_in_sight | witness | registers | opened | *_of_tomorrow) continue ;;
	esac
	newer "$c" "$out/$name" || continue
	gcc -O1 -g -Ijitreg -o "$out/$name" "$c" -ldl -lpthread || exit 1
done
c=$here/busy.c
newer "$c" "$out/busy-static" && gcc -O1 -static -o "$out/busy-static" "$c" -lpthread 2>/dev/null
newer "$c" "$out/busy-32" && gcc -O1 -m32 -o "$out/busy-32" "$c" -lpthread 2>/dev/null && { # some kernels run no 32-bit programs
	"$out/busy-32" 0 >"$out/busy-32.said" 2>&1 || rm "$out/busy-32"
}
newer "$c" "$out/busy-nopie" && gcc -O1 -no-pie -o "$out/busy-nopie" "$c" -lpthread 2>/dev/null
# programs and libraries of their own kind
newer "$here/wraps.c" "$out/libwraps.so" && {
	gcc -O1 -rdynamic -o "$out/wraps" "$here/wraps.c" -ldl -lpthread &&
		gcc -O1 -DLIBRARY -shared -fPIC -o "$out/libwraps.so" "$here/wraps.c" -ldl || exit 1
}
newer "$here/fakejit.c" "$out/libfakejit.so" && {
	gcc -O1 -DHOST -o "$out/fakejit" "$here/fakejit.c" -ldl &&
		gcc -O2 -DHOST -DDESCRIPTOR -rdynamic -o "$out/fakejit-descriptor" "$here/fakejit.c" -ldl &&
		gcc -O2 -shared -fPIC -Wl,-Bsymbolic-functions -o "$out/libfakejit.so" "$here/fakejit.c" || exit 1
}
newer "$here/witness.c" "$out/libwitness.so" && { gcc -O1 -Ijitreg -shared -fPIC -o "$out/libwitness.so" "$here/witness.c" -ldl || exit 1; }
c=$here/registers.c
newer "$c" "$out/registers" && {
	gcc -O1 -DLIBRARY -Ijitreg -shared -fPIC -o "$out/libregisters.so" "$c" -ldl &&
		gcc -O1 -Ijitreg -o "$out/registers" "$c" -L"$out" -lregisters -Wl,-rpath,'$ORIGIN' -ldl -lpthread || exit 1
}
newer "$here/v8_of_tomorrow.c" "$out/libv8_of_tomorrow.so" && {
	gcc -O1 -rdynamic -o "$out/v8_of_tomorrow" "$here/v8_of_tomorrow.c" -ldl &&
		gcc -O1 -DYESTERDAY -rdynamic -o "$out/v8_of_yesterday" "$here/v8_of_tomorrow.c" -ldl &&
		gcc -O1 -DPROGRAM -o "$out/v8_of_tomorrow-opens" "$here/v8_of_tomorrow.c" -ldl &&
		gcc -O1 -DLIBRARY -shared -fPIC -o "$out/libv8_of_tomorrow.so" "$here/v8_of_tomorrow.c" || exit 1
}
newer "$here/python_of_tomorrow.c" "$out/libpython_of_tomorrow.so" && {
	gcc -O1 -rdynamic -o "$out/python_of_tomorrow" "$here/python_of_tomorrow.c" -ldl &&
		gcc -O1 -DPROGRAM -o "$out/python_of_tomorrow-opens" "$here/python_of_tomorrow.c" -ldl &&
		gcc -O1 -DLIBRARY -shared -fPIC -o "$out/libpython_of_tomorrow.so" "$here/python_of_tomorrow.c" || exit 1
}
c=$here/hosts_of_tomorrow.c
for host in CPYTHON DUCKDB RUBY LUAJIT PHP ERLANG; do
	newer "$c" "$out/${host,,}_of_tomorrow" || continue
	gcc -O1 -D_FILE_OFFSET_BITS=64 "-D$host" -rdynamic -o "$out/${host,,}_of_tomorrow" "$c" || exit 1
done
newer "$c" "$out/sqlite_of_tomorrow" && { # a library; and a program that has one inside
	gcc -O1 -DSQLITE -rdynamic -o "$out/inside_of_tomorrow" "$c" &&
		gcc -O1 -DSQLITE -DLIBRARY -shared -fPIC -o "$out/libsqlite_of_tomorrow.so" "$c" &&
		gcc -O1 -DPROGRAM -o "$out/sqlite_of_tomorrow" "$c" -L"$out" -Wl,--no-as-needed -lsqlite_of_tomorrow \
			-Wl,-rpath,'$ORIGIN' || exit 1
}
newer "$c" "$out/openjdk_of_tomorrow" && {
	gcc -O1 -DOPENJDK -DLIBRARY -shared -fPIC -Wl,-soname,libjvm.so -o "$out/libjvm.so" "$c" &&
		gcc -O1 -DPROGRAM -o "$out/openjdk_of_tomorrow" "$c" -L"$out" -Wl,--no-as-needed -ljvm -Wl,-rpath,'$ORIGIN' || exit 1
}
c=$here/opened.c
newer "$c" "$out/opened" && {
	gcc -O1 -DPCRE2 -shared -fPIC -Wl,-soname,libpcre2-8.so.0 -o "$out/libpcre2-8.so.0" "$c" || exit 1
	for library in missing:-DUSER,-DMISSING user:-DUSER mono:-DMONO moarvm:-DMOARVM,-D_FILE_OFFSET_BITS=64 sqlite:-DSQLITE; do
		# slots are bound at their first call only if neither the linker nor the compiler says otherwise
		read -ra flags <<<"$(tr , ' ' <<<"${library#*:}")"
		gcc -O1 "${flags[@]}" -fplt -Wl,-z,lazy -shared -fPIC -o "$out/libopened-${library%:*}.so" "$c" \
			-L"$out" -l:libpcre2-8.so.0 -Wl,-rpath,'$ORIGIN' || exit 1
	done
	gcc -O1 -o "$out/opened" "$c" -ldl || exit 1
}
c=$here/jit_in_sight.c
newer "$c" "$out/jit_in_sight" && { gcc -O2 -fno-toplevel-reorder -rdynamic -o "$out/jit_in_sight" "$c" || exit 1; }
c=$here/hidden_jit.c
newer "$c" "$out/hidden_jit" && {
	gcc -O1 -fcf-protection=none -fno-asynchronous-unwind-tables -DHOT -c -o "$out/hidden_hot.o" "$c" &&
		gcc -O1 -o "$out/hidden_jit-unstripped" "$c" && gcc -O1 -s -o "$out/hidden_jit" "$c" &&
		gcc -O1 -DUNPATCHED -rdynamic -o "$out/hidden_jit-unpatched" "$c" || exit 1
}
c=$here/many_jit_lists.c # its descriptor is exported, and nothing else has a symbol
newer "$c" "$out/many_jit_lists" && { gcc -O1 -rdynamic -s -o "$out/many_jit_lists" "$c" || exit 1; }
if command -v clang >/dev/null; then
	for c in "$here"/bitcode/*.c; do
		bc=$out/$(basename "$c" .c).bc
		newer "$c" "$bc" || continue
		clang -g -O1 -c -emit-llvm -o "$bc" "$c" || exit 1
	done
fi
# a library that is found through the caller's RUNPATH only
if newer "$here/runpath/main.c" "$out/runpath/main"; then
	mkdir -p "$out/runpath/sub"
	gcc -shared -fPIC -o "$out/runpath/sub/libbeside.so" "$here/runpath/beside.c" &&
		gcc -shared -fPIC -o "$out/runpath/liba.so" "$here/runpath/liba.c" -Wl,-rpath,'$ORIGIN/sub' -Wl,--enable-new-dtags -ldl &&
		gcc -o "$out/runpath/main" "$here/runpath/main.c" -L"$out/runpath" -la -Wl,-rpath,'$ORIGIN' || exit 1
fi
exit 0
