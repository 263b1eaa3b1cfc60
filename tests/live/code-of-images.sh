#!/bin/bash
# SPDX-License-Identifier: MIT
# The trace has the code of sampled functions of programs and libraries: `asm` and `cpi` list it after the program is gone, by symbol, and
# of a stripped program by what its unwind table says; --image-code 0 keeps none, scrub --drop-code drops it. A program that is started by
# naming the loader is the program, with its code and names. Of a recorder that is killed, functions have names from the files that are
# still there, or a sentence.
. tests/live/begin.bash
cat >"$dir/host.c" <<'END'
#include <stdlib.h>
#include <time.h>

volatile unsigned sum;

/* enough frames that these tell where frames are: of a file without, all code is kept for that (agent/recorder/images) */
#define MORE(name) __attribute__((noinline)) void name(void) { sum++; }
MORE(a) MORE(b) MORE(c) MORE(d) MORE(e) MORE(f) MORE(g) MORE(h) MORE(i) MORE(j) MORE(k) MORE(l) MORE(m) MORE(n) MORE(o) MORE(p)

__attribute__((noinline)) void divide(unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		sum = (sum | 1000000007u) / i;
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + atoi(argv[argc - 1]) + 1;

	while (time(NULL) < end)
		divide(1000000);
}
END
loader=
record() { # HOST OPTIONS SECONDS
	local host=$1
	shift
	gcc -O1 -o "$dir/$host" "$dir/host.c" || { fail "gcc: exit $?"; return 1; }
	[ "$host" = named ] || strip "$dir/$host"
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" "${@:1:$#-1}" -- ${loader:+"$loader"} "$dir/$host" "${!#}" ||
		{ fail "tailor run: exit $?"; return 1; }
	n=$("$B/tailor" report --view images --json "$dir/t.tlr" |
		/usr/bin/python3 -c 'import json, sys
print(sum(i["samples"] for i in json.load(sys.stdin)["tables"]["images"] if i["path"].endswith(sys.argv[1])))' "$host")
	rm "$dir/$host"
}
listing() { "$B/tailor" report --view "$1" --top 0 "${2:-$dir/t.tlr}"; }

gather 50 record named || finish
for view in asm cpi; do
	listing $view >"$dir/text"
	grep -q '^divide of named at 0x' "$dir/text" ||
		fail "report --view $view: expected 'divide of named at 0x', got: $(head -50 "$dir/text")"
done
listing asm | grep -qE '  div ' || fail "report --view asm: expected an instruction 'div', got: $(listing asm | head -50)"
"$B/tailor" scrub --drop-code -o "$dir/s.tlr" "$dir/t.tlr" || fail "tailor scrub: exit $?"
if listing asm "$dir/s.tlr" | grep -E '  div '; then fail "scrub --drop-code: code is still in the trace"; fi

loader=/lib64/ld-linux-x86-64.so.2
gather 50 record named || finish
loader=
for view in functions processes; do
	"$B/tailor" report --view $view --csv "$dir/t.tlr"
done >"$dir/text"
{ grep -q 'divide' "$dir/text" && grep -q "$dir/named" "$dir/text"; } ||
	fail "ld.so PROGRAM: expected 'divide' and the program as executable, got: $(head -20 "$dir/text")"

gather 50 record stripped || finish
listing asm >"$dir/text"
grep -qE '^stripped\+0x[0-9a-f]+ at 0x' "$dir/text" && grep -qE '  div ' "$dir/text" ||
	fail "report --view asm of a stripped program: expected 'stripped+0x...' with a 'div', got: $(head -50 "$dir/text")"

gather 50 record named --image-code 0 || finish
listing asm >"$dir/text"
grep -q 'are outside generated code' "$dir/text" || fail "--image-code 0: expected a sentence, got: $(head -20 "$dir/text")"
gcc -O1 -o "$dir/named" "$dir/host.c" || exit 1
"$B/tailor" run -q -e "$(plain_event)" -o "$dir/k.tlr" -- "$dir/named" 300 &
recorder=$!
dump() { "$B/tailor" dump "$dir/k.tlr" 2>/dev/null; }
has_samples() { [ "$(dump | grep -c ' SAMPLES ')" -ge 2 ]; }
wait_for has_samples
host=$(pgrep -P $recorder -f "$dir/named")
kill -9 $recorder $host
wait $recorder 2>/dev/null
"$B/tailor" report --view functions "$dir/k.tlr" >"$dir/text" 2>&1
grep -q 'divide' "$dir/text" || fail "a recorder that was killed: expected 'divide', got: $(head -20 "$dir/text")"
if ! dump | grep -q ' IMAGE_FILE .*/named"'; then # it lives for some seconds before it writes them
	gcc -O2 -o "$dir/named" "$dir/host.c" || exit 1
	"$B/tailor" report "$dir/k.tlr" 2>&1 | tr -s '\n ' ' ' >"$dir/text"
	grep -q 'the file at this path is gone or another' "$dir/text" ||
		fail "a recorder that was killed, and a program that was replaced: expected a sentence, got: $(head -50 "$dir/text")"
fi
finish
