#!/bin/bash
# SPDX-License-Identifier: MIT
# What `tailor import` makes of a perf.data file is what perf report says of the same file, sample by sample: images, and each function
# that both name. With a trace that was recorded at the same time, samples of generated code have operators, whichever clock perf used.
set -u
B=$1
command -v perf >/dev/null || { echo "skipped, because perf is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir" "/tmp/perf-${node_pid:-none}.map"' EXIT
bad=0
fail() { echo "$@"; bad=1; }

cat >"$dir/compare.py" <<'END'
"""compare.py TAILOR PERF.DATA TRACE LEAST: counts of perf report and tailor report agree; LEAST of the samples are in functions of both"""
import collections, json, os, re, subprocess, sys
tailor, data, trace, least = sys.argv[1:4] + [float(sys.argv[4])]
report = subprocess.run(["perf", "report", "--stdio", "-i", data, "-F", "sample,dso,sym", "-t", "\x01"], capture_output=True, text=True)
if report.returncode:  # perf 6.1 overruns a buffer of its own with build ids of some kernels' vdso
    print("skipped, because perf report cannot read its own file here:", report.stderr.strip()[-80:])
    sys.exit(77)
def one_name(image):  # libx.so.6 is a link to libx.so.6.0.30: the agent hears of one, perf of the other
    return re.sub(r"(\.so\.\d+)[.\d]+$", r"\1", image)
perf, perf_images = collections.Counter(), collections.Counter()
for line in report.stdout.splitlines():
    f = [x.strip() for x in line.split("\x01")]
    if line.startswith("#") or len(f) < 3:
        continue
    image = one_name(os.path.basename(f[1]))
    image = "(generated)" if f[1].startswith(("perf-", "/tmp/perf-", "[JIT]")) else "kernel" if f[1].startswith("[kernel") else image
    perf[image, f[2][4:]] += int(f[0])
    perf_images[image] += int(f[0])
ours, our_images = collections.Counter(), collections.Counter()
built_in = 0
text = subprocess.run([tailor, "report", "--view", "functions", "--json", "--top", "0", trace], capture_output=True, text=True).stdout
for row in json.loads(text)["tables"]["functions"]:
    image = "kernel" if "kernel" in row["image"] or row["name"] == "[kernel]" else one_name(row["image"])
    ours[image, row["name"]] += row["samples"]
    our_images[image] += row["samples"]
    built_in += row["samples"] if row["name"].startswith(("Builtin:", "BytecodeHandler:")) else 0
total = sum(perf.values())
bad = total != sum(ours.values()) and [f"samples: perf has {total}, we have {sum(ours.values())}"] or []
for image in perf_images | our_images:
    # a JIT may announce functions that are the executable's: V8's built-in ones
    if abs(perf_images[image] - our_images[image]) > built_in:
        bad.append(f"image {image}: perf has {perf_images[image]} samples, we have {our_images[image]}")
both = [k for k in perf if k in ours]
bad += [f"{k}: perf has {perf[k]} samples, we have {ours[k]}" for k in both if perf[k] != ours[k]]
same = sum(perf[k] for k in both)
if same < least * total:
    bad.append(f"functions that both name have {same} of {total} samples, expected {least:.0%}")
print("\n".join(bad) or f"FIGURE {len(both)} functions and {len(perf_images)} images of {total} samples agree with perf report; "
      f"{same / total:.0%} of the samples are in functions that both name")
sys.exit(bool(bad))
END
cat >"$dir/operators.py" <<'END'
"""How many samples of generated code there are, and how many of them are on an operator."""
import sys
head, *rows = (line.rstrip("\n").split("\t") for line in sys.stdin)
rows = [dict(zip(head, r)) for r in rows]
rows = [r for r in rows if r["image"] == "(generated)"]
print(len(rows), sum(bool(r["operator"]) for r in rows))
END

perf_record() { # NAME ARGUMENT...
	timeout 60 perf record -q -B -e task-clock -F 2000 -o "$dir/$1.data" "${@:2}" >"$dir/$1.out" 2>"$dir/$1.err"
}
import() { # NAME ARGUMENT...
	timeout 60 "$B/tailor" import -o "$dir/$1.tlr" "${@:2}" "$dir/$1.data" 2>"$dir/$1.import" ||
		{ fail "tailor import $1.data: exit $?: $(cat "$dir/$1.import")"; return 1; }
}
compare() { # NAME LEAST; perf report may fail for one file and not for the next
	out=$(/usr/bin/python3 "$dir/compare.py" "$B/tailor" "$dir/$1.data" "$dir/$1.tlr" "$2")
	status=$?
	echo "$out" | sed "s/^FIGURE/& $1:/"
	case $status in
	0) ;;
	77) skipped=${out#*because } ;;
	*) bad=1 ;;
	esac
}

# a program with functions of its own, at their level
cat >"$dir/host.c" <<'C'
#include <time.h>
static volatile unsigned long x;
__attribute__((noinline)) void some(void) { for (int i = 0; i < 200000; i++) x += x * 3 + 1; }
__attribute__((noinline)) void more(void) { for (int i = 0; i < 500000; i++) x += x * 5 + 1; }
int main(void) { for (int i = 0; i < 600; i++) { some(); more(); } }
C
gcc -O1 -g -o "$dir/host" "$dir/host.c" || exit 1
perf_record c -k mono "$dir/host" || { echo "skipped, because perf cannot record here: $(tail -n 1 "$dir/c.err")"; exit 77; }
skipped=
import c && compare c 0.9

# a JIT that writes a map for perf
if command -v node >/dev/null; then
	cat >"$dir/n.js" <<'JS'
function inner(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function text(i) { let t = ""; for (let k = 0; k < 200; k++) t += String.fromCharCode(97 + (i + k) % 26); return t.split("a").length; }
function outer(n) { let s = 0; for (let i = 0; i < 50; i++) s += inner(n) ^ text(i); return s; }
const end = Date.now() + 1500; let x = 0;
while (Date.now() < end) x += outer(2000);
console.log(process.pid);
JS
	perf_record n -k mono node --perf-basic-prof --logfile="$dir/v8.log" "$dir/n.js" || fail "perf record node: $(cat "$dir/n.err")"
	node_pid=$(tail -n 1 "$dir/n.out")
	import n && compare n 0.5
fi

# one that says what its code is for, to the agent, while perf samples it
host() { timeout 120 "$B/tailor" run -q -r 1 -o "$dir/$1.said" -- perf record -q -B -e task-clock -F 5000 -o "$dir/$1.data" \
	--user-regs=bx,bp,sp,ip,r12,r13,r14,r15 "${@:2}" "$B/engine" --query ${query:-q3 --scale 0.5 --repeat 6} >"$dir/$1.out" \
	2>"$dir/$1.err"; }
for clock in mono own; do
	as=()
	[ $clock = own ] || as=(-k mono)
	host $clock "${as[@]}" || { fail "perf record engine ($clock): $(cat "$dir/$clock.err")"; continue; }
	import $clock --with "$dir/$clock.said" || continue
	[ $clock = own ] || compare $clock 0.1
	read -r all on < <("$B/tailor" report --samples "$dir/$clock.tlr" | /usr/bin/python3 "$dir/operators.py")
	if [ "$all" -gt 50 ] && [ $((on * 100)) -ge $((all * 95)) ]; then
		echo "FIGURE $clock: $on of $all samples of generated code are on an operator"
	else
		fail "$clock: expected 95 % of more than 50 samples of generated code on an operator, got $on of $all"
	fi
	"$B/tailor" report --view plan "$dir/$clock.tlr" | grep -q 'hash join' || fail "$clock: expected a hash join in the plan"
done
# one long phase, where most samples are summed up at once: each still counts for its own function, as it does beside a view that
# looks at each sample by itself
query="fig9 --scale 1" host long -k mono && import long --with "$dir/long.said" || fail "perf record engine (long): $(cat "$dir/long.err")"
for beside in "" "--view events"; do
	# shellcheck disable=SC2086 # two words
	"$B/tailor" report --view functions $beside --top 0 --json "$dir/long.tlr" |
		/usr/bin/python3 -c 'import json, sys
for row in sorted((r["image"], r["name"], r["samples"]) for r in json.load(sys.stdin)["tables"]["functions"]):
    print(*row)' >"$dir/functions${beside:+.each}"
done
[ -s "$dir/functions" ] && cmp -s "$dir/functions" "$dir/functions.each" ||
	fail "functions, summed up at once (<) and one by one (>): $(diff "$dir/functions" "$dir/functions.each" | head -n 10)"
"$B/tailor" import -o "$dir/no.tlr" "$dir/own.data" 2>"$dir/no.err" && fail "perf's own clock without --with: expected a refusal"
grep -q "perf's own clock" "$dir/no.err" || fail "perf's own clock: expected a sentence about it, got: $(cat "$dir/no.err")"

# compressed, with stacks, which make many records
if perf_record z -z --call-graph dwarf,2048 -k mono "$dir/host" && [ -s "$dir/z.data" ]; then
	/usr/bin/python3 - "$dir/z.data" <<'END' || fail "perf record -z: expected compressed records"
import struct, sys
data = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", data, 40)
types, end = set(), at + size
while at < end:
    kind, _, bytes_ = struct.unpack_from("<IHH", data, at)
    types.add(kind)
    at += bytes_
sys.exit(not types & {81, 83})
END
	import z && compare z 0.9
fi
# through a pipe it is the same
timeout 60 perf record -q -B -e task-clock -F 2000 -k mono -o - "$dir/host" 2>/dev/null >"$dir/p.data"
import p && "$B/tailor" report --view functions "$dir/p.tlr" | grep -q '  more ' || fail "from a pipe: expected a function 'more'"
[ $bad = 0 ] && [ -n "$skipped" ] && { echo "skipped, because $skipped"; exit 77; }
exit $bad
