#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach names the traces of a LuaJIT that runs already, and loads nothing for it: those that are there and those that are compiled
# meanwhile, by the file and the line where they begin.  heavy() has three times the samples of light(), within 3 points.  So it is where
# LuaJIT's state lies behind more memory than one look searches.
. tests/live/begin.bash
command -v luajit >/dev/null || skip "luajit is not installed"
luajit -e 'os.exit(jit.version:match("^LuaJIT 2%.1") and jit.status() and 0 or 1)' || skip "luajit is not 2.1 with its compiler"
host=
trap 'kill -9 $host 2>/dev/null; rm -rf "$dir"' EXIT
cat >"$dir/host.lua" <<'LUA'
local function heavy(n) local x = 0
	for i = 1, 3 * n do x = (x * 33 + i) % 1000003 end return x end
local function light(n) local x = 0
	for i = 1, n do x = (x * 33 + i) % 1000003 end return x end
local function late(n) local x = 0
	for i = 1, n do x = (x * 33 + i) % 1000003 end return x end
local work, is_late = 0, false
if arg[2] then -- 160 MiB below all else that may be written
	local ffi = require "ffi"
	ffi.cdef "void *mmap(void *at, size_t bytes, int prot, int flags, int fd, long offset);"
	assert(ffi.C.mmap(ffi.cast("void *", 0x200000000ULL), 160 * 2 ^ 20, 3, 0x22, -1, 0) == ffi.cast("void *", 0x200000000ULL))
end
while not io.open(arg[1] .. "/enough") do
	for i = 1, 10 do work = work + heavy(1e5) + light(1e5) end
	if is_late then late(1e5) else is_late = io.open(arg[1] .. "/late") end
	io.open(arg[1] .. "/works", "w"):close()
end
print(heavy(1e3), light(1e3))
LUA
touch "$dir/enough" && luajit "$dir/host.lua" "$dir" >"$dir/out.alone" && rm "$dir/enough"
luajit "$dir/host.lua" "$dir" >"$dir/out" 2>"$dir/err" &
host=$!
works() { [ -e "$dir/works" ] || ! kill -0 $host 2>/dev/null; }
wait_for works
seconds=0.5
recorded() {
	"$B/tailor" attach -q -e "$(plain_event)" -d $seconds -o "$dir/t.tlr" $host 2>"$dir/said" || return 2
	"$B/tailor" report --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, re, sys
r = json.load(sys.stdin)
of = {2: 0, 4: 0}
for f in r["functions"]:
    at = re.search(r"^TRACE \d+ .*host\.lua:(\d+)", f["name"])
    if at and int(at[1]) in of:
        of[int(at[1])] += f["samples"]
n, named, heavy = r["jit"]["samples"] + sum(f["samples"] for f in r["functions"] if f["image"] == "[unknown]"), sum(of.values()), of[2]
if named < 1000 and n < 2000:
    sys.exit(77)
share = 100 * heavy / max(1, named)
print(f"FIGURE LuaJIT from outside: {n} samples in generated code, {named} in the two loops, {share:.1f} % of 75 in the first")
sys.exit(not (named >= 0.95 * n and abs(share - 75) < 3))'
	local status=$?
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
decide --nearly "traces that are there have names, and the time that was planted in them" recorded
rm -f "$dir/t.tlr" # what it has is of the next recording
"$B/tailor" attach -q -e "$(plain_event)" -o "$dir/t.tlr" $host &
recorder=$!
has() { "$B/tailor" dump "$dir/t.tlr" 2>/dev/null | grep -q "LOAD.*TRACE [0-9]* .*host.lua:$1" || ! kill -0 $recorder 2>/dev/null; }
wait_for has 2
touch "$dir/late"
wait_for has 6
kill -INT $recorder
wait $recorder || fail "attach: expected exit 0, got $?"
"$B/tailor" dump "$dir/t.tlr" | grep -q "LOAD.*TRACE [0-9]* .*host.lua:6" || fail "expected the trace that was compiled meanwhile"
if [ "$(id -u)" = 0 ]; then # of the whole machine: it is found by its memory for code
	rm -f "$dir/t.tlr"
	"$B/tailor" attach -q --all -r 100 -o "$dir/t.tlr" &
	recorder=$!
	wait_for has 2
	kill -INT $recorder
	wait $recorder || fail "attach --all: expected exit 0, got $?"
	"$B/tailor" dump "$dir/t.tlr" | grep -q "LOAD.*TRACE [0-9]* .*host.lua:2" || fail "expected attach --all to name the traces"
fi
touch "$dir/enough"
wait $host || fail "the host: expected exit 0, got $?: $(cat "$dir/err")"
cmp "$dir/out.alone" "$dir/out" || fail "the host printed something else"

rm -f "$dir/works" "$dir/enough" "$dir/late" "$dir/t.tlr"
luajit "$dir/host.lua" "$dir" large >"$dir/out" 2>"$dir/err" &
host=$!
wait_for works
"$B/tailor" attach -q -e "$(plain_event)" -o "$dir/t.tlr" $host &
recorder=$!
wait_for has 2
kill -INT $recorder
wait $recorder || fail "attach to a large process: expected exit 0, got $?"
"$B/tailor" dump "$dir/t.tlr" | grep -q "LOAD.*TRACE [0-9]* .*host.lua:2" || fail "expected names of traces in a large process"
touch "$dir/enough"
wait $host || fail "the large host: expected exit 0, got $?: $(cat "$dir/err")"
finish
