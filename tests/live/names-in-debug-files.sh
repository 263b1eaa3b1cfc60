#!/bin/bash
# SPDX-License-Identifier: MIT
# A stripped program's functions have the names that its debug file has, wherever that lies: beside it, in .debug, in perf's cache, in
# debuginfod's; found by build id or by checksum.  One of another build, or damaged, is not taken for it.
. tests/live/begin.bash
cat >"$dir/host.c" <<'END'
#include <stdlib.h>
volatile unsigned sum;
static inline __attribute__((always_inline)) void inlined_work(unsigned i) { sum += i; }
static __attribute__((noinline)) void planted_work(void) { for (unsigned i = 0; i < 1000000; i++) inlined_work(i); }
int main(int argc, char **argv)
{
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		planted_work();
	return 0;
}
END
mkdir "$dir/home" "$dir/cache" "$dir/bin"
export HOME=$dir/home DEBUGINFOD_CACHE_PATH=$dir/cache
unset XDG_CACHE_HOME
build() { # LINKER'S-OPTION: a stripped program, and its debug file in $dir/debug
	rm -rf "$dir"/bin/* "$dir"/bin/.debug "$dir/home/.debug" "${dir:?}"/cache/*
	gcc -O1 -g "-Wl,--build-id=$1" -o "$dir/bin/host" "$dir/host.c" && objcopy --only-keep-debug "$dir/bin/host" "$dir/debug" &&
		strip "$dir/bin/host" || exit 1
	id=$(readelf -n "$dir/bin/host" | sed -n 's/^ *Build ID: *//p')
}
link() { (cd "$dir" && cp debug host.debug && objcopy --add-gnu-debuglink=host.debug bin/host) || exit 1; }
planted() { # SECONDS; the number of the program's samples
	"$B/tailor" run -q -e task-clock -r "$(allowed_rate 4000)" -o "$dir/t.tlr" -- "$dir/bin/host" $((100 * $1)) || return 1
	n=$("$B/tailor" report --samples "$dir/t.tlr" | cut -f 8 | grep -c '/bin/host$')
}
named() { # WHAT: at least 98 % of what the program did is in planted_work(), by name
	gather 100 planted || return
	"$B/tailor" report --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
rows = [r for r in json.load(sys.stdin)["functions"] if r["image"].endswith("/host")]
all, named = sum(r["samples"] for r in rows), sum(r["samples"] for r in rows if r["name"] == "planted_work")
print(f"FIGURE {sys.argv[1]}: {named:.0f} of {all:.0f} samples named")
sys.exit(named < 0.98 * all if sys.argv[2] == "yes" else named > 0)' "$1" "${2:-yes}" ||
		fail "$1: expected ${2:-yes} names, got: $("$B/tailor" report "$dir/t.tlr" | head -3)"
}
says() { # SENTENCE
	"$B/tailor" report "$dir/t.tlr" | tr '\n' ' ' | tr -s ' ' | grep -qF "$1" ||
		fail "expected \"$1\", got: $("$B/tailor" report "$dir/t.tlr" | head -12)"
}
lined() { # WHAT [REPORT'S-OPTION...]: the lines of planted_work() are those that addr2line finds, and what is inlined is seen
	"$B/tailor" report "${@:2}" --samples "$dir/t.tlr" | awk -F '\t' '$9 == "planted_work" { sub(".*/", "", $10); print $10 }' |
		sort | uniq -c | sort -rn >"$dir/lines"
	echo "FIGURE $1: $(tr -s ' ' <"$dir/lines" | tr '\n' ',')"
	[ -s "$dir/lines" ] && ! grep -qv ' host\.c:[34]$' "$dir/lines" || fail "$1: expected lines of host.c, got: $(cat "$dir/lines")"
	"$B/tailor" export --overwrite --format folded "${@:2}" -o "$dir/folded" "$dir/t.tlr" &&
		grep -q 'planted_work;inlined_work' "$dir/folded" ||
		fail "$1: expected inlined_work in planted_work, got: $(head -3 "$dir/folded")"
}
build sha1
named "no debug file" no
mkdir -p "$dir/later/.build-id/${id:0:2}" && cp "$dir/debug" "$dir/later/.build-id/${id:0:2}/${id:2}.debug"
says 'in functions of host without a name: its symbols were taken out. Install its debug package'
"$B/tailor" report --view lines "$dir/t.tlr" | tr '\n' ' ' | tr -s ' ' | grep -q '(host, .* it has no line table. .*build it with -g' ||
	fail "no debug file: expected a sentence about lines, got: $("$B/tailor" report --view lines "$dir/t.tlr")"
lined "found later" --debug-path "$dir/later"
! "$B/tailor" report --debug-path "$dir/later" "$dir/t.tlr" | grep -q 'without a name' || fail "found later: expected no sentence"
gcc -O1 -g -Wl,--build-id=0x0123 -o "$dir/later/.build-id/${id:0:2}/${id:2}.debug" "$dir/host.c" || exit 1
"$B/tailor" report --debug-path "$dir/later" "$dir/t.tlr" | grep -q 'without a name' || fail "another build's: expected no names"
link && cp "$dir/host.debug" "$dir/bin/"
named "beside it"
lined "beside it"
doctor() { # PROGRAM SENTENCE
	"$B/tailor" doctor "$1" | tr '\n' ' ' | tr -s ' ' | grep -qF "$2" ||
		fail "doctor $1: expected \"$2\", got: $("$B/tailor" doctor "$1" | grep -A 3 Symbols)"
}
doctor "$dir/bin/host" '[ok] names of functions in the files or in their debug files'
! "$B/tailor" report "$dir/t.tlr" | grep -q 'without a name' || fail "beside it: expected no sentence about names"
mkdir "$dir/bin/.debug" && mv "$dir/bin/host.debug" "$dir/bin/.debug/"
named "in .debug"
head -c 3000 "$dir/host.debug" >"$dir/bin/.debug/host.debug"
named "a damaged one" no
: >"$dir/bin/.debug/host.debug"
named "an empty one" no
rm "$dir/bin/.debug/host.debug" && mkfifo "$dir/bin/.debug/host.debug"
named "a FIFO" no
build sha1
mkdir -p "$dir/home/.debug/.build-id/${id:0:2}/${id:2}" && cp "$dir/debug" "$dir/home/.debug/.build-id/${id:0:2}/${id:2}/elf"
named "perf's cache"
build sha1
mkdir "$dir/cache/$id" && cp "$dir/debug" "$dir/cache/$id/debuginfo"
named "debuginfod's cache"
cp "$dir/debug" "$dir/other"
build 0x0123456789012345678901234567890123456789
mkdir "$dir/cache/$id" && cp "$dir/other" "$dir/cache/$id/debuginfo"
named "of another build" no
says "its symbols were taken out, and the debug file $dir/cache/$id/debuginfo is of another build."
build none
link && cp "$dir/host.debug" "$dir/bin/"
named "by its checksum"
printf x >>"$dir/bin/host.debug"
named "of another checksum" no
# in the file itself, as Fedora packs it: the functions that .dynsym has not
pack() { # a program whose .gnu_debugdata has planted_work() alone
	rm -rf "$dir"/bin/* "$dir"/bin/.debug
	gcc -O1 -g -rdynamic -o "$dir/bin/host" "$dir/host.c" && objcopy -S --keep-symbol=planted_work "$dir/bin/host" "$dir/small" &&
		/usr/bin/python3 -c 'import lzma, sys; open(sys.argv[2], "wb").write(lzma.compress(open(sys.argv[1], "rb").read()))' \
			"$dir/small" "$dir/small.xz" && strip "$dir/bin/host" || exit 1
}
add() { objcopy --add-section ".gnu_debugdata=$1" "$dir/bin/host" || exit 1; }
pack && add "$dir/small.xz"
named "packed in the file"
"$B/tailor" dump "$dir/t.tlr" | grep -q 'symbols of the file in front' || fail "packed in the file: expected its symbols in the trace"
pack && head -c 300 "$dir/small.xz" >"$dir/cut.xz" && add "$dir/cut.xz"
named "packed, and cut" no
says 'its symbols were taken out, and those in its .gnu_debugdata are damaged.'
/usr/bin/python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.compress(bytes(100 << 20)))' >"$dir/bomb.xz"
pack && add "$dir/bomb.xz"
named "packed, and a bomb" no
says 'its symbols were taken out, and those in its .gnu_debugdata would take too much memory.'
# a program whose own DWARF goes on in other files
rm -rf "$dir"/bin/*
(cd "$dir/bin" && gcc -O1 -g -gsplit-dwarf -o host "$dir/host.c") || exit 1
gather 100 planted && lined "split into a .dwo"
if type -P dwz >/dev/null; then
	gcc -O1 -g -o "$dir/bin/host" "$dir/host.c" && gcc -O1 -g -shared -fPIC -o "$dir/bin/other.so" "$dir/host.c" &&
		dwz -m "$dir/bin/common" "$dir/bin/host" "$dir/bin/other.so" || exit 1
	gather 100 planted && lined "shared by dwz"
else
	echo "what dwz makes is not looked at: it is missing (package dwz)"
fi
# from a server that the user names; nothing is asked for without that
cat >"$dir/server.py" <<'END'
import http.server, sys
class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open(sys.argv[3], "a").write(self.path + "\n")
        known = self.path == f"/buildid/{sys.argv[2]}/debuginfo"
        self.send_response(200 if known else 404)
        body = open(sys.argv[1], "rb").read() if known else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), Server)
print(s.server_port, flush=True)
s.serve_forever()
END
if /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null; then
	build sha1
	: >"$dir/asked"
	coproc /usr/bin/python3 "$dir/server.py" "$dir/debug" "$id" "$dir/asked" 2>&1
	server=$COPROC_PID
	read -r port <&"${COPROC[0]}"
	unset DEBUGINFOD_URLS
	named "no server" no
	[ -s "$dir/asked" ] && fail "no server: expected no request, got: $(cat "$dir/asked")"
	export DEBUGINFOD_URLS=http://127.0.0.1:$port/ no_proxy=127.0.0.1
	named "a server"
	grep -q "^/buildid/$id/debuginfo$" "$dir/asked" || fail "a server: expected a request, got: $(cat "$dir/asked")"
	lined "a server"
	kill "$server"
	rm -rf "${dir:?}"/cache/*
	named "a server that has ended" no
	unset DEBUGINFOD_URLS
else
	echo "servers of debug files are not looked at: libdebuginfod.so.1 is missing (package libdebuginfod1)"
fi
# a program of a package: the sentence names the package that has its symbols
owner=$(dpkg -S /usr/bin/gzip /bin/gzip 2>/dev/null | sed 's/:.*//;q')
id=$(readelf -n "$(type -P gzip)" | sed -n 's/^ *Build ID: *//p')
compressed() { # SECONDS
	head -c $(($1 * 20000000)) /dev/urandom >"$dir/bytes"
	"$B/tailor" run -q -e task-clock -r "$(allowed_rate 4000)" -o "$dir/t.tlr" -- gzip -9 -c "$dir/bytes" >/dev/null || return 1
	n=$("$B/tailor" report --samples "$dir/t.tlr" | cut -f 8 | grep -c '/gzip$')
}
if [ -n "$owner" ] && ! [ -e "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" ]; then
	doctor gzip "names of functions taken out of gzip remedy: apt install $owner-dbgsym"
	gather 50 compressed && says "name: its symbols were taken out. Record with --debuginfod, or \`apt install $owner-dbgsym\`"
else
	echo "the package's name is not looked at: gzip is none of dpkg's, or its symbols are installed"
fi
finish
