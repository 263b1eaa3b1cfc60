#!/bin/bash
# SPDX-License-Identifier: MIT
# One address holds ten thousand functions one after another: every sample gets the one that was there, as a register says; where a perf map
# has their names, which has no times, nearly every one.
# Code that was there before the agent is of the program that ran then.  Memory that nobody names is named by who mapped it,
# and ends with its mapping.  200,000 functions are announced without one being dropped, within 64 MiB of the host's memory.
. tests/live/begin.bash
h=$B/hosts/reuse

record() { # COMMAND...
	timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$@" >"$dir/out" 2>"$dir/err" && return
	fail "tailor run -- $*: expected exit 0, got $?: $(cat "$dir/out" "$dir/err")"
	return 1
}
report() { "$B/tailor" report --json "$dir/t.tlr" >"$dir/json" || fail "tailor report --json: exit $?"; }

reuse() { # WRONG (% of samples at most) FUNCTIONS [ARGUMENT...] SECONDS (of some processor): $n samples
	local wrong=$1 functions=$(($2 * ${*: -1}))

	record "$h" "${@:3:$#-3}" $functions && report || return
	"$B/tailor" dump --samples "$dir/t.tlr" | grep ' user ip=' >"$dir/samples"
	/usr/bin/python3 - "$dir" $functions $wrong >"$dir/told" <<'END' || { fail "$(cat "$dir/told")"; return 1; }
import collections, json, re, sys
start = int(open(sys.argv[1] + "/out").read(), 16)
truth = collections.Counter()
for line in open(sys.argv[1] + "/samples"):
    ip = int(re.search(r" ip=(\w+)", line).group(1), 16)
    if start <= ip < start + 128:
        truth["f_%d" % int(re.search(r" r20=(\w+)", line).group(1), 16)] += 1
told = collections.Counter()
for f in json.load(open(sys.argv[1] + "/json"))["functions"]:
    if f["generated"]:
        told[f["name"]] += f["samples"]
n = sum(truth.values())
print(n)
print(f"FIGURE {n} samples in {len(truth)} of {sys.argv[2]} functions at one address: {sum((truth - told).values())} got another's name")
if sum((truth - told).values()) > int(sys.argv[3]) / 100 * n or (truth != told and sys.argv[3] == "0"):
    print(f"expected each sample's own function; too few: {list((truth - told).items())[:5]}, too many: {list((told - truth).items())[:5]}")
    sys.exit(1)
END
	n=$(head -n 1 "$dir/told")
}
gather 300 reuse 0 10000 && sed -n 's/^FIGURE/&/p' "$dir/told"
gather 300 reuse 10 1000 map && sed -n 's/^FIGURE/&/p' "$dir/told"

# What follows is gathered until there are 500 samples of anything: the host does next to nothing else, so 200 of them must be in the code.
anonymous() { # TIMES
	record "$h" anonymous "$1" && report || return
	n=$(/usr/bin/python3 -c '
import json, re, sys
r = json.load(open(sys.argv[1]))
total, generated = r["samples"]["total"], [f for f in r["functions"] if f["generated"]]
samples = sum(f["samples"] for f in generated)
print(total)
if total < 500:
    sys.exit()
f = {x["name"]: x for x in generated if x["samples"] > 0.1 * samples}  # each has about a half
names = sorted(f)
if samples < 200 or len(names) != 2 or not re.fullmatch("anonymous code, mapped by \\w+ in reuse", names[0]) or names[1] != "second":
    sys.exit(f"of {total} samples: expected 200 in anonymous code, mapped by ... in reuse, and second, got {samples} in {names}")
if f[names[0]]["symbol"] or not f["second"]["symbol"]:
    sys.exit("a region counts as a name")
' "$dir/json" 2>&1) || { fail "reuse anonymous $1: $n"; return 1; }
}
gather 500 anonymous

before() { # TIMES: of a process that had executed another program
	record sh -c "ls / >/dev/null; exec $h before $1" && report || return
	n=$(/usr/bin/python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
total, n = r["samples"]["total"], sum(f["samples"] for f in r["functions"] if f["name"] == "was_there")
print(total)
if total >= 500 and n < 200:
    sys.exit(f"code found in a process that had executed another program: expected 200 of {total} samples or more, got {n}")
' "$dir/json" 2>&1) || { fail "reuse before $1: $n"; return 1; }
}
gather 500 before

# The agent knows 256 ranges of executable memory at a time, and each range or part of one that it does not know is counted.
apart() { # RANGES EXPECTED
	local full
	record "$h" apart "$1" && report || return
	full=$(/usr/bin/python3 -c '
import json, sys
print(sum(l["count"] for l in json.load(open(sys.argv[1]))["losses"] if l["reason"] == "guest table full"))' "$dir/json")
	[ "$full" = "$2" ] || fail "$1 ranges of executable memory: expected $2 that the agent does not know, got $full"
}
apart 100 0
apart 200 $((2 * 200 - 256))
apart 300 $((300 - 256 + 256))

if record "$h" many 200000; then
	loads=$("$B/tailor" dump "$dir/t.tlr" | grep -c ' LOAD ')
	[ "$loads" = 200000 ] || fail "200,000 functions: expected as many LOAD records, got $loads ($(cat "$dir/err"))"
	kib=$(sed -n 's/.*memory \([0-9-]*\) KiB/\1/p' "$dir/err")
	[ "${kib:-99999}" -le 65536 ] || fail "200,000 functions: expected at most 65536 KiB more memory, got $kib"
	begin=$(date +%s%N)
	"$B/tailor" report --view functions --top 0 "$dir/t.tlr" >"$dir/report" || fail "tailor report: exit $?"
	grep -q function_number_ "$dir/report" || fail "expected functions by name in: $(head -n 20 "$dir/report")"
	echo "FIGURE 200,000 functions: $(sed -n 's/.*\(median.*\)/\1/p' "$dir/err"); opened in $((($(date +%s%N) - begin) / 1000000)) ms"
fi
finish
