#!/bin/bash
# SPDX-License-Identifier: MIT
# Of code that a perf map only names, the bytes of what was sampled are read from memory: of each of two functions that had the same
# address one after the other its own; `asm` shows them, and says that they were read later; scrub --code drops them; Node's, too.
# Of code that nobody names, sampled pages.
. tests/live/begin.bash

timeout 60 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/named_code" 2 >"$dir/out" || { echo "named_code: exit $?"; exit 1; }
"$B/tailor" dump --json "$dir/t.tlr" >"$dir/dump" || bad=1
"$B/tailor" report --view asm --top 0 "$dir/t.tlr" >"$dir/asm" || bad=1
/usr/bin/python3 - "$dir/out" "$dir/dump" "$dir/asm" <<'PYTHON' || bad=1
import json, sys
wanted = dict(line.split() for line in open(sys.argv[1]))
names, got = {}, {}
for line in open(sys.argv[2]):
    r = json.loads(line)
    f = r["fields"]
    if r["record"] == "LOAD":
        names[f["code_addr"], r["time_ns"]] = f["name"]
    elif r["record"] == "CODE_BYTES" and f["loaded_ns"] != 2**64 - 1:  # (a page, before there was a name)
        got[names[f["address"], f["loaded_ns"]]] = f["code"]["hex"]
if got != wanted:
    sys.exit(f"expected the bytes {wanted}, got {got}")
text = open(sys.argv[3]).read()
for part in ("first at 0x", "second at 0x", "imul rax, rdi", "xor rax, rdi", "were read from memory"):
    if part not in text:
        sys.exit(f"report --view asm: expected '{part}', got:\n{text}")
print("FIGURE bytes of both functions at one address, each its own")
PYTHON
"$B/tailor" scrub --code -o "$dir/s.tlr" "$dir/t.tlr" >/dev/null && "$B/tailor" report --view asm "$dir/s.tlr" >"$dir/asm"
if grep -qE 'imul|dec ecx' "$dir/asm"; then
	echo "scrub --code: expected no code, got:"
	cat "$dir/asm"
	bad=1
fi
# of code that nobody names, pages
timeout 60 "$B/tailor" run -q -o "$dir/u.tlr" -- "$B/hosts/named_code" 2 silent >"$dir/out" || { echo "named_code: exit $?"; exit 1; }
"$B/tailor" report --view asm "$dir/u.tlr" >"$dir/asm" || bad=1
if ! grep -q '^anonymous code, mapped by named_code.* at 0x' "$dir/asm" || ! grep -q 'dec ecx' "$dir/asm"; then
	echo "named_code silent: expected the region's instructions, got:"
	cat "$dir/asm"
	bad=1
fi
"$B/tailor" scrub --code -o "$dir/s.tlr" "$dir/u.tlr" >/dev/null && "$B/tailor" report --view asm "$dir/s.tlr" >"$dir/asm"
if grep -qE 'imul|dec ecx' "$dir/asm"; then
	echo "scrub --code of a page: expected no code, got:"
	cat "$dir/asm"
	bad=1
fi
if command -v node >/dev/null; then
	timeout 60 "$B/tailor" run -q --no-adapt -o "$dir/n.tlr" -- env -C "$dir" node --perf-basic-prof "$PWD/tests/hosts/jits/fib.js" 1 \
		"$dir/rounds" >"$dir/out"
	rm -f "/tmp/perf-$("$B/tailor" report --json "$dir/n.tlr" | grep -om1 '"pid": [0-9]*' | grep -o '[0-9]*').map"
	"$B/tailor" report --view asm --top 0 "$dir/n.tlr" >"$dir/asm"
	if ! grep -q 'fib .*at 0x' "$dir/asm" || ! grep -q 'push rbp' "$dir/asm"; then
		echo "node: expected fib's instructions, got:"
		cat "$dir/asm"
		bad=1
	fi
fi
exit $bad
