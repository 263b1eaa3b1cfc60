#!/bin/bash
# SPDX-License-Identifier: MIT
# What `tailor import` makes of a perf.data file is what perf says of the same file: the image of each sample, and each function that both
# name. With a trace that was recorded at the same time, samples of generated code have operators, whichever clock perf used.
. tests/live/begin.bash
command -v perf >/dev/null || { echo "skipped, because perf is not installed"; exit 77; }

cat >"$dir/compare.py" <<'END'
"""compare.py TAILOR PERF.DATA TRACE IMAGE: perf and tailor put each sample into the same image, and functions that both name have as many
samples; nine of ten of those in IMAGE are in such functions."""
import collections, glob, json, os, re, subprocess, sys
tailor, data, trace, own = sys.argv[1:]

def perf(*arguments):
    p = subprocess.run(["perf", *arguments, "-i", data], capture_output=True, text=True, errors="replace")
    if p.returncode:  # perf 6.1 overruns a buffer of its own with build ids of some kernels' vdso
        print(f"skipped, because perf {arguments[0]} cannot read its own file here: {p.stderr.strip()[-80:]}")
        sys.exit(77)
    return p.stdout.splitlines()

def tables(*arguments):
    return subprocess.run([tailor, "report", *arguments, trace], capture_output=True, text=True, check=True).stdout

def image_of(name):
    if "[kernel" in name:
        return "kernel"
    if name.startswith(("perf-", "/tmp/perf-", "[JIT]", "(generated)")):
        return "(generated)"
    # libx.so.6 is a link to libx.so.6.0.30: the agent hears of one, perf of the other
    return re.sub(r"(\.so\.\d+)(\.\d+)*$", r"\1", os.path.basename(name))

def announced(pid):
    """What a JIT's map says of addresses, also of such as are the executable's: V8's built-in functions."""
    try:
        with open(f"/tmp/perf-{pid}.map", errors="replace") as f:
            return [(int(a, 16), int(a, 16) + int(b, 16), name) for a, b, name in (line.rstrip("\n").split(" ", 2) for line in f)]
    except FileNotFoundError:
        return []

bad = []
# ---- images, sample by sample
theirs = {}
for line in perf("script", "-G", "--ns", "-F", "pid,tid,time,ip,sym,dso"):
    m = re.match(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+) .*\((.*)\)$", line)
    if m:
        theirs[int(m[2]), int(m[3] + m[4])] = int(m[1]), int(m[5], 16), image_of(m[6])
head, *rows = (line.split("\t") for line in tables("--samples").splitlines())
ours = [dict(zip(head[:9], r)) for r in rows]
if len(ours) != len(theirs):
    bad.append(f"samples: perf has {len(theirs)}, we have {len(ours)}")
images, maps, two_truths = set(), {}, 0
for s in ours:
    pid, ip, image = theirs.get((int(s["tid"]), int(s["time_ns"])), (0, 0, None))
    mine = image_of(s["image"])
    images.add(mine)
    what = f"sample of thread {s['tid']} at {s['time_ns']} ns, address {s['ip']}"
    if image is None:
        bad.append(f"{what}: perf has none")
    elif ip != int(s["ip"], 16):
        bad.append(f"{what}: perf has it at {ip:#x}")
    elif image == "[unknown]" and not mine:
        continue
    elif image != mine:
        # The code of a built-in function is the executable's, and its name the JIT's: which of them an image is cannot be compared.
        names = [n for begin, end, n in maps.setdefault(pid, announced(pid)) if begin <= ip < end]
        if "(generated)" in (image, mine) and any(n.startswith(("Builtin:", "BytecodeHandler:")) for n in names):
            two_truths += 1
        else:
            bad.append(f"{what}: perf says {image}, we say {mine}; announced as {names}")
# ---- functions: as many samples
def function_of(image, name):
    """Built-in functions by what is the same in the symbol and in what the JIT announced.  Of bytecode handlers nothing is.  We say the
    tier that V8 compiled a function for of its code object alone.  Node 18 says LazyCompile or Function where later ones say JS."""
    name = re.sub(r"^(JS|[A-Z]\w+):[*^~+]", r"\1:", name)
    m = re.match(r"(?:Builtins_|Builtin:)(.*?)(Handler)?$|BytecodeHandler:", name)
    return (image, name) if not m else ("built-in", m[1]) if m[1] and not m[2] else ("built-in", "")
perf_functions, functions = collections.Counter(), collections.Counter()
for line in perf("report", "--stdio", "-F", "sample,dso,sym", "-t", "\x01"):
    f = [x.strip() for x in line.split("\x01")]
    if not line.startswith("#") and len(f) >= 3:
        perf_functions[function_of(image_of(f[1]), f[2][4:])] += int(f[0])
for row in json.loads(tables("--view", "functions", "--json", "--top", "0"))["tables"]["functions"]:
    functions[function_of(image_of(row["image"]), row["name"])] += row["samples"]
both = [k for k in perf_functions if k in functions and k != ("built-in", "")]
bad += [f"{k}: perf has {perf_functions[k]} samples, we have {functions[k]}" for k in both if perf_functions[k] != functions[k]]
same, of = (sum(n for k, n in perf_functions.items() if k[0] == own and (k in both or not wanted)) for wanted in (True, False))
few = same < 0.9 * of or not of
if few:
    unlike = {k: n for k, n in (perf_functions | functions).items() if k[0] == own and k not in both}
    print(f"functions of {own} that both name have {same} of {of} samples, expected nine of ten; the others: {unlike}")
print("\n".join(bad[:20]) or f"FIGURE {len(both)} functions and {len(images)} images of {len(ours)} samples agree with perf; "
      f"{same} of {of} samples in {own} are in functions that both name, {two_truths} in built-in functions")
sys.exit(2 if bad else few)
END
cat >"$dir/operators.py" <<'END'
"""operators.py CLOCK: 95 % of the samples of generated code are on an operator."""
import sys
sys.path.insert(0, "tests")
from evidence import verdict
head, *rows = (line.rstrip("\n").split("\t") for line in sys.stdin)
rows = [dict(zip(head, r)) for r in rows]
on = [bool(r["operator"]) for r in rows if r["image"] == "(generated)"]
# A block is a stretch of 50 of them: one of 100 or fewer is in no line, at a function's edge, so that three of 50 are in one of 70
# stretches.  Where times or addresses are not those of the trace beside it, they are on no operator, in each stretch.
blocks = [sum(on[i:i + 50]) >= 0.95 * 50 for i in range(0, len(on) - 49, 50)]
said = f"{sum(on)} of {len(on)} samples of generated code are on an operator"
holds = verdict(blocks)
if holds is None:
    print(f"skipped, because this machine gave only {len(blocks)} blocks of evidence, {sum(blocks)} of which agree: {said}")
    sys.exit(77)
print(f"FIGURE {sys.argv[1]}: {said}" if holds else f"{sys.argv[1]}: expected 95 %, got {said}, by stretches of 50 {blocks}")
sys.exit(not holds)
END

# perf_record NAME RATE ARGUMENT...; before_perf: what runs it; build_ids: -N for the file to have some (perf 6.1 cannot always write
# them).  What the kernel allows may become less while we look: perf then says
# that the rate, or some feature, is not supported.
perf_record() {
	local try rate
	for try in 1 2 3 4 5; do
		rate=$(allowed_rate "$2")
		# shellcheck disable=SC2086 # words
		timeout 600 ${before_perf:-} perf record -q ${build_ids:--B --no-buildid-mmap} -e "$(plain_event)" -F "$rate" \
			-o "$dir/$1.data" "${@:3}" >"$dir/$1.out" 2>"$dir/$1.err" && return
		grep -q 'not supported\|frequency rate\|Invalid argument' "$dir/$1.err" || return 1
	done
	return 1
}
import() { # NAME ARGUMENT...
	timeout 600 "$B/tailor" import -o "$dir/$1.tlr" "${@:2}" "$dir/$1.data" 2>"$dir/$1.import" ||
		{ fail "tailor import $1.data: exit $?: $(cat "$dir/$1.import")"; return 1; }
}
count() { # NAME IMAGE; how many samples are there, in $n
	n=$("$B/tailor" report --samples "$dir/$1.tlr" | cut -f 8 | grep -c -- "$2\$")
}
# What is compared sample by sample is exact.  How many samples of an image are in functions that both name is a matter of where they
# happen to be (perf calls what lies before the first symbol by another name): where it is too few in one recording, others decide.  A
# block is a recording; it agrees, since nearly all of its samples are in functions with symbols of their own.  Where one of the two did
# not read symbols, none agrees.
compare() { # NAME IMAGE RECORD...; perf may fail to read one file and not the next
	local name=$1 image=$2 status before=$bad
	once() { /usr/bin/python3 "$dir/compare.py" "$B/tailor" "$dir/$name.data" "$dir/$name.tlr" "$image"; }
	shift 2
	judge once
	status=$?
	[ $status = 1 ] || return
	bad=$before
	again() { n=0; "$@" 1 || return 2; [ "${n:-0}" -ge 100 ] || return 77; once; }
	decide "nine of ten samples of $image ($name) are in functions that both name" again_of "$@"
}
again_of() { local record=("${@:1:$#-1}"); again "${record[@]}"; }

# a program with functions of its own, at their level, for tenths of a second of its own time
cat >"$dir/host.c" <<'C'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long x;
__attribute__((noinline)) void some(void) { for (int i = 0; i < 20000; i++) x += x * 3 + 1; }
__attribute__((noinline)) void more(void) { for (int i = 0; i < 50000; i++) x += x * 5 + 1; }
int main(int argc, char **argv)
{
	(void)argc;
	while (clock() < atof(argv[1]) * CLOCKS_PER_SEC / 10) { some(); more(); }
}
C
gcc -O1 -g -o "$dir/host" "$dir/host.c" || exit 1
perf_record c 2000 -k mono "$dir/host" 1 || { echo "skipped, because perf cannot record here: $(tail -n 1 "$dir/c.err")"; exit 77; }
plain() { # NAME [ARGUMENT...] SECONDS; of which a third is enough
	local name=$1 seconds=${*: -1}
	set -- "${@:2:$#-2}"
	perf_record "$name" 2000 -k mono "$@" "$dir/host" $((3 * seconds)) ||
		{ fail "perf record ($name): $(cat "$dir/$name.err")"; return 1; }
	import "$name" && count "$name" /host
}
gather 100 plain c && compare c host plain c

# without a clock in the file, its date is that of the last record
timeout 600 perf record -q -B --no-buildid-mmap -e "$(plain_event)" -F "$(allowed_rate 2000)" -o "$dir/d.data" \
	"$dir/host" 3 >"$dir/d.out" 2>&1 &&
	import d && "$B/tailor" dump --json "$dir/d.tlr" | /usr/bin/python3 -c '
import json, os, sys
begin, end = next(r for r in map(json.loads, sys.stdin) if r["record"] == "HEADER"), os.stat(sys.argv[1]).st_mtime
early_s = end - begin["fields"]["real_ns"] / 1e9
sys.exit(not -2 <= early_s <= 30 and f"the recording began {early_s:.1f} s before its file was written, and took some tenths of a second")
' "$dir/d.data" || fail "the date of a file without a clock"

# the kernel's functions: where the file tells that the kernel is the one that runs here they have names, else a sentence says why not
kernel() { # NAME SECONDS
	perf_record "$1" 2000 -k mono "$B/hosts/kernel_work" calls $((10 * $2)) || return 1
	import "$1" && n=$("$B/tailor" report --samples "$dir/$1.tlr" | cut -f 4 | grep -c kernel)
}
known() { build_ids=-N kernel k "$1"; }
if [ "$(plain_event)" != task-clock ] || ! grep -q '^[89a-f]' /proc/kallsyms; then
	echo "FIGURE not tried, because this user may not sample the kernel, or not see its addresses: functions of the kernel"
else
	if gather 100 kernel u; then
		compare u kernel kernel u # without build ids, but on this host since it was started
		/usr/bin/python3 -c 'import os, sys
data, release = open(sys.argv[1], "rb").read(), os.uname().release.encode()
open(sys.argv[1], "wb").write(data.replace(release, b"0" * len(release)))' "$dir/u.data"
		import u
		grep -q 'names of kernel functions unavailable (the file has no build id of the kernel' "$dir/u.import" ||
			fail "of an unknown kernel: expected a sentence about names, got: $(cat "$dir/u.import")"
		n=$("$B/tailor" report --samples "$dir/u.tlr" | awk -F '\t' '$4 == "kernel" && $9 != "[kernel]"' | wc -l)
		[ "$n" = 0 ] || fail "of an unknown kernel: expected no names, $n samples have one"
	fi
	if known 1; then
		gather 300 known && compare k kernel known
	else
		undecided "perf cannot write the kernel's build id here: $(tail -n 1 "$dir/k.err")"
	fi
fi

# a JIT that writes a map for perf
v8() { # SECONDS
	rm -f "/tmp/perf-${node_pid:-none}.map"
	perf_record n 2000 -k mono node --perf-basic-prof --logfile="$dir/v8.log" "$dir/n.js" "$1" ||
		{ fail "perf record node: $(cat "$dir/n.err")"; return 1; }
	node_pid=$(tail -n 1 "$dir/n.out")
	import n && count n '(generated)'
}
if command -v node >/dev/null; then
	trap 'rm -rf "$dir" "/tmp/perf-${node_pid:-none}.map"' EXIT
	cat >"$dir/n.js" <<'JS'
function inner(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function text(i) { let t = ""; for (let k = 0; k < 200; k++) t += String.fromCharCode(97 + (i + k) % 26); return t.split("a").length; }
function outer(n) { let s = 0; for (let i = 0; i < 50; i++) s += inner(n) ^ text(i); return s; }
const begin = process.cpuUsage().user; let x = 0;
while (process.cpuUsage().user - begin < process.argv[2] * 500000) x += outer(2000);
console.log(process.pid);
JS
	gather 100 v8 && compare n '(generated)' v8
fi

# one that says what its code is for, to the agent, while perf samples it
engine() { # NAME ARGUMENT... ; query: what it does
	# shellcheck disable=SC2086 # words
	before_perf="$B/tailor run -q -r 1 -o $dir/$1.said --" perf_record "$1" 5000 --user-regs=bx,bp,sp,ip,r12,r13,r14,r15 "${@:2}" \
		"$B/engine" --query $query || { fail "perf record engine ($1): $(cat "$dir/$1.err")"; return 1; }
	import "$1" --registrations "$dir/$1.said"
}
tagged() { # NAME [ARGUMENT...] SECONDS
	local seconds=${*: -1} query
	set -- "${@:1:$#-1}"
	query="q3 --scale 0.1 --optimize inline,llvm --seconds $((3 * seconds))e-1"
	engine "$@" && count "$1" '(generated)'
}
for clock in mono own; do
	as=()
	[ $clock = own ] || as=(-k mono)
	gather 300 tagged $clock "${as[@]}" || continue
	[ $clock = own ] || compare $clock engine tagged $clock "${as[@]}"
	judge /usr/bin/python3 "$dir/operators.py" $clock < <("$B/tailor" report --samples "$dir/$clock.tlr")
	"$B/tailor" report --view plan "$dir/$clock.tlr" | grep -q 'hash join' || fail "$clock: expected a hash join in the plan"
done
# one long phase, where most samples are summed up at once: each still counts for its own function, as it does beside a view that
# looks at each sample by itself
if query="fig9 --scale 1" engine long -k mono; then
	for beside in "" "--view events"; do
		# shellcheck disable=SC2086 # two words
		"$B/tailor" report --view functions $beside --top 0 --json "$dir/long.tlr" |
			/usr/bin/python3 -c 'import json, sys
for row in sorted((r["image"], r["name"], r["samples"]) for r in json.load(sys.stdin)["tables"]["functions"]):
    print(*row)' >"$dir/functions${beside:+.each}"
	done
	[ -s "$dir/functions" ] && cmp -s "$dir/functions" "$dir/functions.each" ||
		fail "functions, summed up at once (<) and one by one (>): $(diff "$dir/functions" "$dir/functions.each" | head -n 10)"
fi
# on perf's own clock, to which nothing relates ours, it is the same file; a trace of another run has nothing to say of it
if "$B/tailor" import --registrations "$dir/mono.said" -o "$dir/alone.tlr" "$dir/own.data" 2>"$dir/alone.err"; then
	judge /usr/bin/python3 "$dir/compare.py" "$B/tailor" "$dir/own.data" "$dir/alone.tlr" engine
	grep -q "registrations of .* left out: times are of perf's default clock" "$dir/alone.err" ||
		fail "perf's default clock: expected a sentence about registrations, got: $(cat "$dir/alone.err")"
else
	fail "perf's default clock without a trace of the same run: expected an import, got: $(cat "$dir/alone.err")"
fi

# compressed, with stacks, which make many records
if gather 100 plain z -z --call-graph dwarf,2048; then
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
	compare z host plain z -z --call-graph dwarf,2048
fi
finish
