#!/bin/bash
# SPDX-License-Identifier: MIT
# Ruby's YJIT is read while it compiles: every block that Ruby itself knows of was announced, whole and under its method's name,
# also after code was discarded, objects moved, and other threads and Ractors had compiled; and the host's output is the same.
. tests/live/begin.bash
program=$PWD/tests/hosts/jits/yjit.rb
case $(ruby --yjit -e 'print RUBY_VERSION' 2>/dev/null) in
3.1.*) ;;
*) skip "Ruby 3.1 with YJIT is not installed" ;;
esac
for what in plain bop ractor; do
	timeout 300 ruby --yjit "$program" $what >"$dir/alone" 2>/dev/null
	alone=$?
	timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- ruby --yjit "$program" $what >"$dir/out" 2>"$dir/blocks"
	status=$?
	if [ $status != $alone ] || ! cmp -s "$dir/alone" "$dir/out"; then
		fail "ruby --yjit $program $what: expected exit $alone and what it prints alone; got exit $status and:" \
			"$(diff "$dir/alone" "$dir/out")"
	fi
	"$B/tailor" dump "$dir/t.tlr" >"$dir/dump" || fail "tailor dump: exit $?"
	WHAT=$what /usr/bin/python3 - "$dir/dump" "$dir/blocks" <<'END' || bad=1
import os, re, sys
loads, nr, wrong = [], 0, []
for line in open(sys.argv[1], errors="replace"):
    m = re.search(r" LOAD .* code_addr=(\w+) code_size=(\w+) .* name=\"(.*?)\" code=", line)
    if m:
        loads.append((int(m[1], 0), int(m[2], 0), m[3]))
for line in open(sys.argv[2]):
    m = re.fullmatch(r"(\d+) (\d+) (.+)\n", line)
    if not m:
        wrong.append(f"on stderr: {line!r}")
        continue
    address, size, name = int(m[1]), int(m[2]), m[3]
    nr += size > 0
    # where a discarded block followed, one may have got a jump of 5 bytes since
    here = [l for l in loads if l[0] <= address < l[0] + l[1] and address + size - 5 <= l[0] + l[1]]
    if size and (not here or here[-1][2] != name):
        wrong.append(f"expected {size} bytes at {address:#x} as {name}, got {here[-1:]}")
print(f"FIGURE {os.environ['WHAT']}: {nr} blocks that Ruby lists, {len(loads)} pieces of code announced")
if nr < 100:
    wrong.append(f"expected 100 blocks or more, got {nr}")
for w in wrong[:10]:
    print(w)
sys.exit(bool(wrong))
END
done
finish
