#!/bin/bash
# SPDX-License-Identifier: MIT
# One address holds ten thousand functions one after another: every sample gets the one that was there, as a register says.
# Code that was there before the agent is of the program that ran then.  Memory that nobody names is named by who mapped it,
# and ends with its mapping.  200,000 functions are announced without one being dropped, within 64 MiB of the host's memory.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/hosts/build.sh "$B" || exit 1
h=$B/hosts/reuse
bad=0
record() { # ARGUMENT...
	timeout 100 "$B/tailor" run -q -o "$dir/t.tlr" -- "$h" "$@" >"$dir/out" 2>"$dir/err" && return
	echo "tailor run -- $h $*: expected exit 0, got $?: $(cat "$dir/out" "$dir/err")"
	exit 1
}

record 10000
"$B/tailor" report --json "$dir/t.tlr" >"$dir/json" || exit 1
"$B/tailor" dump --samples "$dir/t.tlr" | grep ' kernel ip=\| user ip=' >"$dir/samples"
/usr/bin/python3 - "$dir" <<'END' || bad=1
import collections, json, re, sys
start = int(open(sys.argv[1] + "/out").read(), 16)
truth = collections.Counter()
for line in open(sys.argv[1] + "/samples"):
    if " user " not in line:
        continue
    ip = int(re.search(r" ip=(\w+)", line).group(1), 16)
    if start <= ip < start + 128:
        truth["f_%d" % int(re.search(r" r20=(\w+)", line).group(1), 16)] += 1
told = collections.Counter()
for f in json.load(open(sys.argv[1] + "/json"))["functions"]:
    if f["generated"]:
        told[f["name"]] += f["samples"]
n = sum(truth.values())
print(f"FIGURE {n} samples in {len(truth)} of 10000 functions at one address: {sum((truth - told).values())} got another's name")
if n < 300 or truth != told:
    sys.exit(f"expected each sample's own function; too few: {list((truth - told).items())[:5]}, too many: "
             f"{list((told - truth).items())[:5]}")
END

record anonymous
"$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, re, sys
r = json.load(sys.stdin)
f = {x["name"]: x for x in r["functions"] if x["generated"] and x["samples"] > 100}
names = sorted(f)
if len(names) != 2 or not re.fullmatch("anonymous code, mapped by reuse\\+0x[0-9a-f]+", names[0]) or names[1] != "second":
    sys.exit(f"expected anonymous code, mapped by reuse+0x..., and second, got {names}")
if f[names[0]]["symbol"] or not f["second"]["symbol"]:
    sys.exit("a region counts as a name")
' || bad=1

timeout 100 "$B/tailor" run -q -o "$dir/t.tlr" -- sh -c "ls / >/dev/null; exec $h before" || { echo "reuse before: exit $?"; bad=1; }
"$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
n = sum(f["samples"] for f in json.load(sys.stdin)["functions"] if f["name"] == "was_there")
if n < 100:
    sys.exit(f"code found in a process that had executed another program: expected 100 samples or more, got {n}")
' || bad=1

record many 200000
loads=$("$B/tailor" dump "$dir/t.tlr" | grep -c ' LOAD ')
[ "$loads" = 200000 ] || { echo "200,000 functions: expected as many LOAD records, got $loads ($(cat "$dir/err"))"; bad=1; }
kib=$(sed -n 's/.*memory \([0-9-]*\) KiB/\1/p' "$dir/err")
[ "${kib:-99999}" -le 65536 ] || { echo "200,000 functions: expected at most 65536 KiB more memory, got $kib"; bad=1; }
begin=$(date +%s%N)
"$B/tailor" report "$dir/t.tlr" >"$dir/report" || bad=1
grep -q function_number_ "$dir/report" || { echo "expected functions by name in:"; cat "$dir/report"; bad=1; }
echo "FIGURE 200,000 functions: $(sed -n 's/.*\(median.*\)/\1/p' "$dir/err"); opened in $((($(date +%s%N) - begin) / 1000000)) ms"
exit $bad
