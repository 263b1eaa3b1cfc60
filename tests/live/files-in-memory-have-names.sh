#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that was executed from a file in memory (memfd_create(2)), and a library that was loaded from one, have names by attach
# and are no code that a JIT generated. The library has them by run, too. Code in such a file that is no ELF stays what it is: generated.
# Rights: a user has other ways to a file in memory than root
. tests/live/begin.bash
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$dir"' EXIT
cat >"$dir/work.c" <<'C'
__attribute__((noinline)) unsigned long churn(unsigned long x) { for (int i = 0; i < 100000; i++) x = x * 31 + (x >> 7); return x; }
void keep_at_it(void) { static volatile unsigned long sum; for (;;) sum = churn(sum + 1); }
C
echo 'void keep_at_it(void); int main(void) { keep_at_it(); }' >"$dir/main.c"
gcc -g -O1 -o "$dir/program" "$dir/main.c" "$dir/work.c" && gcc -g -O1 -fPIC -shared -o "$dir/work.so" "$dir/work.c" || exit 1
cat >"$dir/start.py" <<'PYTHON'
import ctypes, mmap, os, sys
how, path = sys.argv[1:]
fd = os.memfd_create("held", 0)
if how == "code":  # mov %edi,%eax; 1: sub $1,%eax; jnz 1b; ret
    os.write(fd, bytes([0x89, 0xf8, 0x83, 0xe8, 0x01, 0x75, 0xfb, 0xc3]) + bytes(4088))
    memory = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    while True:
        call(100000000)
os.write(fd, open(path, "rb").read())
if how == "program":
    os.execve(fd, ["held"], os.environ)
ctypes.CDLL(f"/proc/self/fd/{fd}").keep_at_it()
PYTHON
attach() { # SECONDS
	timeout 300 "$B/tailor" attach -q -e "$(plain_event)" -o "$dir/t.tlr" --duration "$1" "$pid" 2>"$dir/err" || {
		fail "tailor attach: exit $?: $(cat "$dir/err")"
		return 1
	}
	"$B/tailor" report --samples "$dir/t.tlr" | awk -F '\t' '$4 == "user"' >"$dir/samples"
	n=$(wc -l <"$dir/samples")
}
works() { [ "$(awk '{ print $14 }' "/proc/$pid/stat" 2>/dev/null || echo 0)" -ge 20 ]; }
# share PATTERN: thousandths of the samples of user code whose line has a match
share() { echo $((1000 * $(grep -Ec "$1" "$dir/samples") / n)); }

for how in program library code; do
	/usr/bin/python3 "$dir/start.py" $how "$dir/$([ $how = program ] && echo program || echo work.so)" & pid=$!
	wait_for works && gather 200 attach && {
		named=$(share 'churn|keep_at_it') unknown=$(share 'unknown|anonymous')
		echo "$how: of 1000 samples $named are named, $unknown are in generated code"
		if [ $how = code ]; then
			[ "$named" = 0 ] && [ "$unknown" -ge 800 ] || fail "$how: expected code without a name"
		else
			[ "$named" -ge 900 ] || fail "$how: expected the names of its functions"
			"$B/tailor" report "$dir/t.tlr" | grep -q 'did not name' && fail "$how: it is taken for a JIT's code"
		fi
	}
	kill -9 $pid
	wait $pid 2>/dev/null
	pid=
done
"$B/tailor" run -q -o "$dir/r.tlr" -- timeout 3 /usr/bin/python3 "$dir/start.py" program "$dir/program" 2>/dev/null
"$B/tailor" report --view processes --json --top 0 "$dir/r.tlr" | grep -q '"/memfd/held"' ||
	fail "run: expected the file in memory as executable"
run() { # SECONDS
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- timeout "$1" /usr/bin/python3 "$dir/start.py" library "$dir/work.so"
	"$B/tailor" report --samples "$dir/t.tlr" | awk -F '\t' '$4 == "user" && /churn|keep_at_it/' >"$dir/samples"
	n=$(wc -l <"$dir/samples")
}
gather 200 run && {
	"$B/tailor" report --json "$dir/t.tlr" |
		/usr/bin/python3 -c 'import json, sys
r = json.load(sys.stdin)
sys.exit(10 * r["jit"]["samples"] > r["samples"]["total"])' ||
		fail "run, library: it is taken for a JIT's code"
	"$B/tailor" report --view images "$dir/t.tlr" | grep -q '/memfd/held$' || fail "run, library: expected its path, /memfd/held"
}
finish
