#!/bin/bash
# SPDX-License-Identifier: MIT
# Code that a file smuggles into a parser has few rights.  In a build with planted faults (tests/plant), what traces, perf maps and ELF
# files bring along is done: it writes no file into the home folder, reads no file of another user's, and executes, connects to, sends to
# and traces nothing.  `tailor serve` may execute, and no more.  With --no-sandbox it does.  As root, and as a user.
. tests/live/begin.bash
P=$B/planted
[ -x "$P/tailor" ] || { fail "$P/tailor is not there: make check builds it"; finish; }
if "$P/tailor" doctor | grep -qE '(landlock|seccomp filters).*unavailable'; then
	echo "skipped, because this kernel has no Landlock or no seccomp filters"
	exit 77
fi
cp "$P/tailor" "$dir/tailor" # where every user may execute it
T=$dir/tailor
chmod 755 "$dir" "$T"
secret=/etc/shadow # of another user
if [ "$(id -u)" = 0 ]; then secret=$dir/other/secret; fi
mkdir "$dir/other"
echo secret >"$dir/other/secret"
chmod 600 "$dir/other/secret"
chmod 700 "$dir/other"
/usr/bin/python3 -c '
import os, socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(16)
open(sys.argv[1] + ".new", "w").write(str(s.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    s.accept()[0].close()
' "$dir/port" &
listener=$!
sleep 1000 &
victim=$!
host=$victim
trap 'kill $listener $victim $host 2>/dev/null; rm -rf "$dir"' EXIT
for ((i = 0; i < 300; i++)); do [ -e "$dir/port" ] && break; sleep 0.1; done

NR_ACTS=8
acts() { # FOLDER
	local port
	port=$(cat "$dir/port")
	echo "write=$1/home/planted,mode=$1/home/mode,read=$secret,exec=/bin/true,connect=$port,send=9,fastopen=$port,ptrace=$victim;"
}
has_acted() { [ "$(grep -c "^planted $2 " "$1")" -ge $NR_ACTS ]; } # FILE PARSER
refused() { # FILE WHAT PARSER...
	local file=$1 what=$2 parser
	shift 2
	for parser; do has_acted "$file" "$parser" || fail "$what: nothing happened in the parser '$parser': $(tail -5 "$file")"; done
	if grep -q '^planted .*: done$' "$file"; then fail "$what: not refused: $(grep '^planted .*: done$' "$file")"; fi
}

# Its hot function has the acts as its name, and so has the generated code in its perf map.
make_host() { # FOLDER
	cat >"$1/host.c" <<HOST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) void hot(void) __asm__("\"planted:elf:$(acts "$1")\"");
void hot(void) { for (volatile unsigned i = 0; i < 1000000; i++); }
int main(int argc, char **argv)
{
	static const unsigned char code[] = { 0xb9, 0x40, 0x42, 0x0f, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 }; /* counts down from 1,000,000 */
	unsigned char *at = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	time_t end = time(NULL) + atoi(argv[1]);
	char name[64];
	FILE *map;

	memcpy(at, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(name, "w");
	fprintf(map, "%lx %zx planted:map:$(acts "$1")\n", (unsigned long)at, sizeof(code));
	fclose(map);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (time(NULL) < end && argc > 1) {
		hot();
		((void (*)(void))at)();
	}
	unlink(name);
	return 0;
}
HOST
	gcc -O1 -o "$1/host" "$1/host.c" || fail "no host"
}

try_all() { # USER FOLDER COMMAND... (which executes as that user)
	local who=$1 d=$2 words act before=$PWD
	shift 2
	mkdir -p "$d/home" "$d/out" "$d/store" "$d/empty"
	: >"$d/home/mode"
	make_host "$d"
	chown -R "$who" "$d"
	cd "$d/empty" || exit 1

	"$@" "$d/host" 300 >"$d/pid" &
	host=$!
	for ((i = 0; i < 300; i++)); do [ -s "$d/pid" ] && break; sleep 0.1; done
	"$@" "$T" attach -o "$d/out/a.tlr" -d 2s "$(cat "$d/pid")" 2>"$d/err" || fail "$who: attach: $(tail -3 "$d/err")"
	refused "$d/err" "$who: attach" map elf
	if [ "$(id -u)" = 0 ] && [ "$who" = root ]; then
		"$T" watch --all --epochs 2s --store "$d/store/w.tlrs" 2>"$d/err" &
		local watch=$!
		for ((i = 0; i < 1200; i++)); do has_acted "$d/err" map && has_acted "$d/err" elf && break; sleep 0.1; done
		kill -INT $watch
		wait $watch
		refused "$d/err" "$who: watch --all" map elf
	fi
	kill "$(cat "$d/pid")"
	wait $host 2>/dev/null
	"$@" "$T" run -q -o "$d/out/r.tlr" -- "$d/host" 2 "planted:trace:$(acts "$d")" >/dev/null 2>"$d/err" ||
		fail "$who: run: $(tail -3 "$d/err")"
	refused "$d/err" "$who: run" map elf

	for words in "report %" "html -o $d/out/r.html %" "db add $d/store/s.tlrs %" \
		"export --format speedscope -o $d/out/r.json %" "diff % %" "dump %" \
		"scrub -o $d/out/s.tlr %" "stat % %" "check %" "flamegraph -o $d/out/f.svg %" "unwind %" "report --view cpi %"; do
		"$@" "$T" ${words//%/"$d/out/r.tlr"} >/dev/null 2>"$d/err"
		refused "$d/err" "$who: ${words%% *}" trace
	done
	"$@" "$T" serve "$d/out/r.tlr" >/dev/null 2>"$d/all" &
	host=$!
	for ((i = 0; i < 300; i++)); do has_acted "$d/all" trace && break; kill -0 $host 2>/dev/null || break; sleep 0.1; done
	kill $host
	wait $host 2>/dev/null
	if grep -q 'libmicrohttpd' "$d/all"; then
		echo "serve: not checked, it was built without libmicrohttpd"
	else
		grep -v '^planted trace exec=' "$d/all" >"$d/err"
		NR_ACTS=$((NR_ACTS - 1)) refused "$d/err" "$who: serve" trace
	fi
	[ ! -e "$d/home/planted" ] || fail "$who: a file was written into the home folder"

	"$@" "$T" report --no-sandbox "$d/out/r.tlr" >/dev/null 2>"$d/err"
	for act in write mode exec connect send; do
		grep -q "^planted trace $act=.*: done$" "$d/err" || fail "$who: with --no-sandbox, $act is refused: $(cat "$d/err")"
	done
	cd "$before" || exit 1
}

mkdir "$dir/r" "$dir/u"
if [ "$(id -u)" = 0 ]; then
	chown -R nobody "$dir/other"
	try_all root "$dir/r" env
	chown -R root "$dir/other"
	try_all nobody "$dir/u" setpriv --reuid nobody --regid nogroup --clear-groups
else
	try_all "$(id -un)" "$dir/u" env
fi
finish
