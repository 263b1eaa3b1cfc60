#!/bin/bash
# SPDX-License-Identifier: MIT
# Python's functions are on call stacks, with file and lines, and with C functions between them: each line of a function has the time that
# the function measures, heavy() has three times the samples of light(), within 2 points; 98 % of the stacks lead from the leaf to where the
# process began.  Recursion limits, exceptions in generators, sys.settrace, threads, fork, deep recursion, output and exit status are as
# alone.  Trampolines that Python makes itself (-X perf) and an evaluation function that is set already stay; --no-adapt does nothing.  So
# it is by `attach --inject`, for what is called since; when its recorder has ended, the interpreter is as it was.  Calls too deep for names
# are told, and a recursion of some hundred calls is not too deep.
. tests/live/begin.bash
python=${PYTHON3:-/usr/bin/python3}
host=tests/hosts/python_functions.py
pid= recorder=
BLOCK=4000 # samples: 2 points are three standard deviations
"$python" -c 'import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 16) or hasattr(sys, "pypy_version_info"))' ||
	skip "$python is not CPython 3.8 to 3.15"

"$python" $host 0 >"$dir/out.alone" 2>"$dir/err.alone"
alone=$?
for how in "" --no-adapt; do
	timeout 300 "$B/tailor" run -q $how -o "$dir/t.tlr" -- "$python" $host 0 >"$dir/out" 2>"$dir/err"
	status=$?
	if [ $status != $alone ] || ! cmp -s "$dir/out" "$dir/out.alone" || ! cmp -s "$dir/err" "$dir/err.alone"; then
		fail "tailor run $how -- $python $host 0: expected exit $alone and what it prints alone; got exit $status and:"
		diff "$dir/out.alone" "$dir/out"
		diff "$dir/err.alone" "$dir/err"
	fi
	"$B/tailor" dump "$dir/t.tlr" >"$dir/dump"
	notices=$(grep -c 'NOTICE kind="host" sentence="Python:' "$dir/dump")
	loads=$(grep -c 'name="py::' "$dir/dump")
	if [ "$how" ]; then [ "$notices $loads" = "0 0" ]; else [ "$notices" = 1 ] && [ "$loads" -gt 0 ]; fi ||
		fail "tailor run $how: got $notices notices of Python's adapter and $loads functions"
done

if "$python" -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' 2>/dev/null; then
	"$B/tailor" run -q -o "$dir/t.tlr" -- "$python" -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' ||
		fail "$python -X perf: expected its own trampolines, got exit $?"
fi

# The samples in the trace are as planted.  HOW: run, or inject: then functions that were entered before have no name.
are_as_planted() { # HOW
	"$B/tailor" report "$dir/t.tlr" >"$dir/report" || return 2
	grep -q '^Python [0-9.]* %,' "$dir/report" && grep -q '^Python functions' "$dir/report" ||
		fail "$1: expected a report of Python and of its functions, got: $(head -n 20 "$dir/report")"
	"$B/tailor" report --json --top 0 "$dir/t.tlr" >"$dir/json" &&
		"$B/tailor" export --format folded "$dir/t.tlr" >"$dir/folded" || return 2
	"$python" - "$dir" $BLOCK $host "$1" <<'PYTHON'
import json, re, sys

weight, complete, between = {"heavy": 0, "light": 0}, 0, 0
first_of = {"run": ["<module>", "main"], "inject": []}[sys.argv[4]]
for line in open(sys.argv[1] + "/folded"):
    stack, _, n = line.rpartition(" ")
    frames = stack.split(";")
    names = [re.sub(":.*", "", f[4:]) for f in frames if f.startswith("py::")]
    for f in weight:
        if f in names:
            weight[f] += int(n)
            complete += int(n) * (names[: len(first_of)] == first_of and not frames[0].startswith("["))
            between += int(n) * ("EvalFrameDefault" in stack.partition("py::" + f)[2])
report = json.load(open(sys.argv[1] + "/json"))
samples = sum(c["samples"] for c in report["components"] if c["level"] == "function" and sys.argv[3] in c.get("detail", ""))
total = sum(weight.values())
if samples < int(sys.argv[2]):
    sys.exit(77)
first = 1 + open(sys.argv[3]).read().splitlines().index("def leaf(n):")
lines = {c["name"]: c["samples"] for c in report["components"] if c["level"] == "line"}
of_leaf = [lines.get(f"python_functions.py:{first + n}", 0) for n in range(5)] # the fourth is the loop's
heavy, complete, between = (100 * x / total for x in (weight["heavy"], complete, between))
print(f"FIGURE Python {sys.version.split()[0]}, {sys.argv[4]}: {samples} samples, heavy {heavy:.1f} % of 75, "
      f"complete stacks {complete:.1f} %")
if of_leaf[3] < 0.4 * sum(of_leaf) or of_leaf[0] > 0.1 * sum(of_leaf):
    print(f"expected most samples of leaf() on line {first + 3}, and few on line {first}, got {of_leaf} from there on")
    sys.exit(2)
sys.exit(not (abs(heavy - 75) < 2 and complete >= 98 and between >= 90))
PYTHON
	local status=$?
	[ $status != 77 ] || seconds=$((2 * seconds))
	return $status
}

seconds=1
recorded() {
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$python" $host $seconds >"$dir/out" 2>"$dir/err"
	[ $? = $alone ] || return 2
	are_as_planted run
}
decide --nearly "Python's functions have the time that was planted in them, and whole call stacks" recorded

# where calls are too deep for names, their time is no other function's, and its share is among a report's first sentences
deep_is_told() {
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$python" tests/hosts/python_deep.py $seconds 20000 &&
		"$B/tailor" report "$dir/t.tlr" >"$dir/report" && "$B/tailor" report --json --top 0 "$dir/t.tlr" >"$dir/json" || return 2
	"$python" - "$dir" <<'PYTHON'
import json, re, sys

report = json.load(open(sys.argv[1] + "/json"))
samples = {c["name"]: c["samples"] for c in report["components"] if c["level"] == "function"}
sentences = " ".join(open(sys.argv[1] + "/report").read().split()).split(" Python functions, ")[0] # the first table's heading
first = re.search(r"([0-9.]+) % of all samples ran in Python functions too deep in the stack", sentences)
total = sum(samples.values())
if total < 500:
    sys.exit(77)
deep = 100 * samples.get("calls too deep for names", 0) / total
print(f"FIGURE deep: {deep:.1f} % of {total}, leaf() {samples.get('leaf', 0)}")
sys.exit(not (first and deep > 50 and samples.get("leaf", 0) == 0 and abs(float(first[1]) - deep) < 5))
PYTHON
	local status=$?
	[ $status != 77 ] || seconds=$((2 * seconds))
	return $status
}
if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then # before, such a recursion is a crash, also alone
	seconds=1
	decide "calls too deep for names have their own row" deep_is_told
fi

# a recursion of some hundred calls has names, whatever limit the version has for calls through C
recursion_has_names() { # PYTHON
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$1" tests/hosts/python_deep.py $seconds 300 &&
		"$B/tailor" report --json --top 0 "$dir/t.tlr" >"$dir/json" || return 2
	"$python" - "$dir" <<'PYTHON'
import json, sys

report = json.load(open(sys.argv[1] + "/json"))
samples = {c["name"]: c["samples"] for c in report["components"] if c["level"] == "function"}
total = sum(samples.values())
if total < 500:
    sys.exit(77)
print(f"FIGURE recursion of 300: leaf() {samples.get('leaf', 0)} of {total}, too deep {samples.get('calls too deep for names', 0)}")
sys.exit(not (samples.get("leaf", 0) > total / 2 and "calls too deep for names" not in samples))
PYTHON
	local status=$?
	[ $status != 77 ] || seconds=$((2 * seconds))
	return $status
}
# an extension in a cache is a library, unless the program itself has written it
cat >"$dir/busy.c" <<'C'
void busy(long n);
void busy(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}
C
mkdir -p "$dir/.cache/shop" && gcc -O1 -shared -fPIC -o "$dir/.cache/shop/busy.cpython-3-linux.so" "$dir/busy.c" || fail "gcc"
sleep 1.1 # the kernel's times of files are compared by the second
for made in old new; do
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$python" -c 'import ctypes, shutil, sys
path = sys.argv[1]
if sys.argv[2] == "new":
    path = shutil.copyfile(path, path.replace("busy", "new"))
ctypes.CDLL(path).busy(300000000)' "$dir/.cache/shop/busy.cpython-3-linux.so" $made
	got=$("$B/tailor" report --json --view functions --top 0 "$dir/t.tlr" | "$python" -c 'import json, sys
print(*{r["generated"] for r in json.load(sys.stdin)["tables"]["functions"] if r["name"] == "busy"})')
	[ "$made $got" = "old 0" ] || [ "$made $got" = "new 1" ] || fail "an extension in a cache, $made: got generated: $got"
done

# each line of a function has the time that the function measures itself, whether the line calls nothing, C, or Python
lines_are_as_measured() { # PYTHON
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$1" tests/hosts/python_lines.py $seconds "$dir/measured" &&
		"$B/tailor" report --json --top 0 --view lines "$dir/t.tlr" >"$dir/json" || return 2
	"$python" - "$dir" <<'PYTHON'
import json, sys

measured = {int(line): share for line, share in json.load(open(sys.argv[1] + "/measured")).items()}
rows = json.load(open(sys.argv[1] + "/json"))["tables"]["lines"]
samples = {r["line"]: r["total_samples"] for r in rows if r["file"].endswith("python_lines.py")}
if max(samples.values(), default=0) < 4000:
    sys.exit(77)
total = sum(samples.get(line, 0) for line in measured)
shares = {line: samples.get(line, 0) / max(total, 1) for line in measured}
print("FIGURE lines, % of the samples (measured):", ", ".join(f"{100 * shares[n]:.1f} ({100 * s:.1f})" for n, s in measured.items()))
sys.exit(any(abs(shares[line] - share) > 0.025 for line, share in measured.items()))
PYTHON
	local status=$?
	[ $status != 77 ] || seconds=$((2 * seconds))
	return $status
}
seconds=1
decide "each line has the time that was measured in it" lines_are_as_measured "$python"
for other in python3.12 python3.13; do
	path=$("$other" -c 'import sys; print(sys.executable)' 2>"$dir/err") || continue
	seconds=1
	decide "a recursion of 300 calls has names in $other" recursion_has_names "$path"
	seconds=1
	decide "each line has the time that was measured in it, in $other" lines_are_as_measured "$path"
done

# a process that runs: the agent is loaded, comes and goes, and its host says what it says alone
seconds=1
folder=$dir/folder
attached() {
	"$B/tailor" attach --inject -q -e "$(plain_event)" -d $seconds -o "$dir/t.tlr" $pid || return 2
	are_as_planted inject
}
has_file() { [ -e "$folder/$1" ] || ! kill -0 $pid 2>/dev/null; }
is_heard() { "$B/tailor" dump "$dir/u.tlr" 2>/dev/null | grep -q 'name="py::' || ! kill -0 $recorder 2>/dev/null; }
mkdir "$folder" && touch "$folder/enough" "$folder/ended"
"$python" $host in "$folder" >"$dir/out.alone" 2>"$dir/err.alone"
rm -r "$folder" && mkdir "$folder"
"$python" $host in "$folder" >"$dir/out" 2>"$dir/err" &
pid=$!
trap 'kill -9 $pid $recorder 2>/dev/null; rm -rf "$dir"' EXIT
wait_for has_file works
plain() { # SECONDS
	"$B/tailor" attach -e "$(plain_event)" -d "$1" -o "$dir/t.tlr" $pid 2>"$dir/said"
	n=$("$B/tailor" report --json "$dir/t.tlr" |
		/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["samples"]["total"])')
}
gather 50 plain || finish
grep -q 'names of Python functions unavailable by .tailor attach.*attach --inject PID' "$dir/said" ||
	fail "attach: expected a sentence about --inject, got: $(cat "$dir/said")"
first=$("$B/tailor" report "$dir/t.tlr" | head -n 1)
[[ $first = "Names of Python functions unavailable by"* ]] || fail "attach: expected the report to begin with that sentence, got: $first"
"$python" -c 'import threading
def work(): sum(range(1000))
def spin():
    while True: work()
t = threading.Thread(target=spin, daemon=True)
t.start()
print("spins", flush=True)
t.join()' >"$dir/spins" &
waits=$!
spins() { [ -s "$dir/spins" ]; }
wait_for spins
any_thread= # is asked from 3.12 on, before that the main thread alone
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' && any_thread=1
"$B/tailor" attach --inject -e "$(plain_event)" -d 0.3 -o "$dir/t.tlr" $waits 2>"$dir/said"
if [ $any_thread ]; then
	"$B/tailor" dump "$dir/t.tlr" | grep -q 'name="py::work' || fail "attach --inject, and a main thread that waits: expected names"
else
	grep -q "names of Python functions unavailable in process $waits: the main thread" "$dir/said" ||
		fail "attach --inject, and a main thread that waits: expected a sentence, got: $(cat "$dir/said")"
	first=$("$B/tailor" report "$dir/t.tlr" | head -n 1)
	[[ $first = "Names of Python functions unavailable in process"* ]] || fail "expected that sentence first, got: $first"
fi
# one that does nothing, beside one that works: the sentence says which it is, and is not the first
"$python" -c 'import threading; print("idles", flush=True); threading.Event().wait()' >"$dir/idles" &
idles=$!
is_idle() { [ -s "$dir/idles" ]; }
wait_for is_idle
beside_idle() {
	"$B/tailor" attach --inject -e "$(plain_event)" -d 0.5 -o "$dir/t.tlr" $idles $pid 2>"$dir/said"
	grep -q "some names of Python functions unavailable in process $idles:" "$dir/said"
}
wait_for beside_idle || fail "attach --inject, beside a process that idles: expected a sentence about it, got: $(cat "$dir/said")"
first=$("$B/tailor" report "$dir/t.tlr" | head -n 1)
[[ $first = Python* ]] || fail "attach --inject, beside a process that idles: expected the report to begin with shares, got: $first"
kill -9 $idles
if command -v node >/dev/null; then # and beside a Node that cannot be asked, which another sentence says
	node -e 'console.log("waits"); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)' >"$dir/node" 2>&1 &
	node=$!
	says_node() { [ -s "$dir/node" ]; }
	wait_for says_node
	"$B/tailor" attach --inject -e "$(plain_event)" -d 0.3 -o "$dir/t.tlr" $node $waits 2>"$dir/said"
	kill -9 $node
	grep -q 'names of JavaScript functions unavailable in process' "$dir/said" ||
		undecided "node could be asked, or loaded no agent: $(cat "$dir/said")"
	[ $any_thread ] || grep -q "names of Python functions unavailable in process $waits: the main thread" "$dir/said" ||
		fail "attach --inject, beside a node that cannot be asked: expected a sentence about Python, got: $(cat "$dir/said")"
fi
kill -9 $waits
"$B/tailor" attach --inject --no-adapt -q -e "$(plain_event)" -d 0.1 -o "$dir/t.tlr" $pid
"$B/tailor" dump "$dir/t.tlr" | grep -q 'NOTICE.*Python: functions registered' && fail "--no-adapt: Python was asked"
decide --nearly "a running Python's functions have the time that was planted in them" attached
"$B/tailor" attach --inject -q -e "$(plain_event)" -o "$dir/u.tlr" $pid &
recorder=$!
wait_for is_heard
touch "$folder/enough"
wait_for has_file shown
kill -INT $recorder
wait $recorder || fail "attach --inject: expected exit 0, got $?"
touch "$folder/ended"
wait $pid
status=$?
if [ $status != $alone ] || ! cmp -s "$dir/out" "$dir/out.alone" || ! cmp -s "$dir/err" "$dir/err.alone"; then
	fail "an injected $python: expected exit $alone and what it prints alone; got exit $status and:"
	diff "$dir/out.alone" "$dir/out"
	diff "$dir/err.alone" "$dir/err"
fi
finish
