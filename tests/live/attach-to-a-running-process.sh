#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach: processes that run already and have no agent are recorded from outside, with the names of what their JIT
# generated; they notice nothing; and what cannot be attached to is refused in one sentence.
# Rights: whose processes can be attached to
. tests/live/begin.bash
hosts=()
trap 'kill -9 "${hosts[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
chmod 755 "$dir"
plain=$(plain_event)
attach() { timeout 300 "$B/tailor" attach -e "$plain" "$@" >"$dir/out" 2>"$dir/err"; }
start() { # COMMAND...: in the background; its pid is $host, its output $dir/host.out
	"$@" >"$dir/host.out" 2>"$dir/host.err" &
	host=$!
	hosts+=($host)
}
# 0.05 s and more of its own time: it is itself by then, and not the shell any more
burns() { local t; t=$(awk '{ print $14 }' "/proc/$1/stat") && [ "$t" -ge 5 ]; } # PID
ended() { ! grep -qs 'State:.[^ZX]' "/proc/$1/status"; } # PID
kill_host() { { kill -9 "$host"; wait "$host"; } 2>/dev/null; }
attach_on() { # TRACE PID [OPTION...]: until a signal comes; $recorder counts and has said what it found
	rm -f "$1"
	"$B/tailor" attach -q -e "$plain" -o "$1" "${@:3}" "$2" 2>"$dir/err" &
	recorder=$!
	hosts+=($recorder)
	wait_for counts "$1"
}
# Mappings are written after counters are opened.
counts() { "$B/tailor" dump "$1" 2>/dev/null | grep ' MMAP ' >/dev/null || ended $recorder; } # TRACE

# ------------------------------------------------------------------------------------------ generated code has names
# Hosts that make a file `warm` in their folder once they are in generated code, and end when there is one called `enough`.
cat >"$dir/numba_host.py" <<'PYTHON'
import os, sys, time
folder = sys.argv[1]
while not os.path.exists(folder + "/go"):  # before LLVM is loaded
    time.sleep(0.01)
from numba import njit
@njit
def mandelbrot(n, limit):
    inside = 0
    for py in range(n):
        for px in range(n):
            x0 = 3.0 * px / n - 2.0
            y0 = 2.0 * py / n - 1.0
            x = y = 0.0
            i = 0
            while x * x + y * y <= 4.0 and i < limit:
                x, y = x * x - y * y + x0, 2.0 * x * y + y0
                i += 1
            if i == limit:
                inside += 1
    return inside
results = {mandelbrot(300, 200)}
open(folder + "/warm", "w").close()
while not os.path.exists(folder + "/enough"):
    results.add(mandelbrot(300, 200))
print(sorted(results))
PYTHON
cat >"$dir/node_host.js" <<'JS'
const fs = require("fs"), folder = process.argv[2];
function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
function total(a) {
	let sum = 0;
	for (let i = 0; i < a.length; i++)
		sum += a[i] % 7;
	return sum;
}
const numbers = Array.from({ length: 20000 }, (_, i) => i * 3);
let result = 0;
do {
	for (let i = 0; i < 100; i++)
		result = fib(20) + total(numbers);
	if (!fs.existsSync(folder + "/warm"))
		fs.writeFileSync(folder + "/warm", "");
} while (!fs.existsSync(folder + "/enough"));
console.log("result " + result);
JS
# A block: a recording of its own, of a host that does nothing but run generated code by then.  It agrees, since nine of ten samples and
# more are there, and all of that code was announced before; on any machine, because both are shares of the host's own time.  Had its code
# not been found, or in part, samples would be in no image that is known, or in anonymous code, as what nobody announced is called.
block() { # TRACE [FROM TO]: the verdict on it, or on the samples between these times
	"$B/tailor" report --samples "$1" | /usr/bin/python3 -c '
import csv, sys
name, begin, end = sys.argv[1], *(1e9 * float(t) for t in sys.argv[2:])
rows = [r for r in csv.DictReader(sys.stdin, delimiter="\t", quoting=csv.QUOTE_NONE) if begin <= int(r["time_ns"]) < end]
jit = [r for r in rows if r["mode"] == "user" and not r["image"].startswith(("/", "["))]
named = [r for r in jit if r["image"] == "(generated)" and r["function"] and not r["function"].startswith("anonymous code")]
print(f"FIGURE attached to {name}: {len(rows)} samples, {len(jit)} in JIT code, {len(named)} of them named")
sys.exit(77 if len(rows) < 200 else not (len(named) >= 0.95 * len(jit) and 2 * len(jit) >= len(rows)))' "$name" "${2:-0}" "${3:-inf}"
}
while_it_runs() {
	attach -d $seconds -o "$dir/t.tlr" "$host"
	local status=$?
	[ $status = 0 ] || { echo "$name: attach: expected exit 0, got $status: $(cat "$dir/err")"; return 2; }
	block "$dir/t.tlr"
	status=$?
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
begin_host() { # FILE... COMMAND: $host runs in a folder of its own, where these files are
	rm -rf "$dir/folder"
	mkdir "$dir/folder"
	touch "${@:1:$#-1}" /dev/null
	start bash -c "exec ${*: -1}"
}
is_warm() { [ -e "$dir/folder/warm" ] || ended "$host"; }
end_host() { # it comes to the end that it comes to alone
	touch "$dir/folder/enough"
	wait_for ended "$host" || kill_host
	wait "$host"
	local status=$?
	[ $status = "$alone" ] && cmp -s "$dir/alone.out" "$dir/host.out" ||
		fail "$name: attached to: exit $status, else $alone; outputs: $(diff "$dir/alone.out" "$dir/host.out" | head -n 3)"
}
check_jit() { # NAME COMMAND
	name=$1 seconds=0.4
	begin_host "$dir/folder/go" "$dir/folder/enough" "$2"
	wait_for ended "$host"
	wait "$host"
	alone=$?
	cp "$dir/host.out" "$dir/alone.out"
	begin_host "$dir/folder/go" "$2"
	wait_for is_warm
	decide "$name: half of the samples and more are in JIT code, and 95 % of those have names" while_it_runs
	ended "$host" && fail "$name: the host does not run any more"
	end_host
}
if command -v lli >/dev/null && [ -e "$B/hosts/seconds.bc" ]; then
	check_jit lli "lli --jit-kind=mcjit $B/hosts/seconds.bc 100000 two $dir/folder"
fi
if command -v node >/dev/null; then
	# (it leaves a log of its own where it runs)
	check_jit node "env -C $dir node --perf-basic-prof $dir/node_host.js $dir/folder"
	rm -f "/tmp/perf-$host.map"
fi
if /usr/bin/python3 -c 'import numba' 2>/dev/null; then
	numba="/usr/bin/python3 $dir/numba_host.py $dir/folder"
	check_jit numba "$numba"

	# What is loaded and generated after the attach: LLVM itself is, too.  A block: a stretch of a recording, of which there are five in
	# each, from when the host said that it was warm; agrees as above, since the recorder is at most a look behind.
	name=numba-from-its-start missing=
	seconds=$(awk "BEGIN { print $seconds / 2 }")
	from_its_start() { # NUMBER
		local first status
		if [ $(($1 % 5)) = 0 ]; then
			[ -z "$missing" ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
			missing=
			begin_host "$numba"
			wait_for burns "$host"
			attach_on "$dir/t.tlr" "$host"
			grep -q LLVM "/proc/$host/maps" && { echo "LLVM was loaded before the attach"; return 2; }
			touch "$dir/folder/go"
			wait_for is_warm
			warm_s=$(/usr/bin/python3 -c 'import time; print(time.monotonic())')
			sleep "$(awk "BEGIN { print 5 * $seconds }")"
			end_host
			wait_for ended $recorder
			wait $recorder || { echo "attach: exit $?: $(cat "$dir/err")"; return 2; }
		fi
		first=$(awk "BEGIN { printf \"%.6f\", $warm_s + $1 % 5 * $seconds }")
		block "$dir/t.tlr" "$first" "$(awk "BEGIN { printf \"%.6f\", $first + $seconds }")"
		status=$?
		[ $status != 77 ] || missing=yes
		return $status
	}
	decide "$name: half of the samples and more are in JIT code, and 95 % of those have names" from_its_start
fi

# ---------------------------------------------------------- each thread is counted once, whoever made it, and whenever
judge /usr/bin/python3 - "$B" "$dir" "$plain" <<'PYTHON'
import collections, os, re, resource, signal, subprocess, sys, time
sys.path.insert(0, "tests")
from evidence import allowed_rate, decide

build, dir, event = sys.argv[1:]
tailor = build + "/tailor"
SAMPLES = 40  # of each short thread's own time
# as often as the kernel allows with room: at its limit it pauses the counter for the rest of each tick
period_ns = max(100000, 2 * 10**9 // allowed_rate(10**9))
# Threads that sleep make attaching take long, so that others are made meanwhile; two events each on each processor need descriptors.
IDLE = min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] // (4 * os.cpu_count()))
RECORDINGS = 6  # in half of them a thread is made while another one's counters are opened
host = subprocess.Popen([build + "/hosts/churn", "1000000", "3", str(SAMPLES * period_ns // 10**6), str(IDLE)])
clock = ~host.pid << 3 | 2  # the process's processor time, with that of threads that have ended
failures = []


def records(trace, pattern):
    text = subprocess.run([tailor, "dump", trace], capture_output=True, text=True).stdout
    return re.findall(pattern, text, re.M)


def record(seconds):
    """Attaches while threads come and go.  Per thread that was made and has ended meanwhile: its samples.  Processor time that the
    host had between begin and end at least; what was counted; when the short thread with the most samples had them, in ns."""
    trace = dir + "/churn.tlr"
    if os.path.exists(trace):
        os.unlink(trace)
    recorder = subprocess.Popen([tailor, "attach", "-q", "-e", event, "--period", str(period_ns), "--stack", "0", "-o", trace,
                                 str(host.pid)], stderr=subprocess.PIPE, text=True)
    while recorder.poll() is None and not (os.path.exists(trace) and records(trace, " MMAP ")):  # counters are open
        time.sleep(0.05)
    begin = time.clock_gettime(clock)
    time.sleep(seconds)
    ran = time.clock_gettime(clock) - begin
    recorder.send_signal(signal.SIGINT)
    said = recorder.communicate()[1]
    if recorder.returncode != 0 or host.poll() is not None:
        sys.exit(f"churn: attach: expected exit 0 and a host that runs, got {recorder.returncode}, {host.poll()}: {said}")
    counted = sum(int(v, 16) for v in records(trace, r" COUNT .*value=0x(\w+)")) / 1e9
    forked, ended = (set(records(trace, rf" \d+/(\d+) {what} ")) for what in ("FORK", "EXIT"))
    samples = collections.defaultdict(list)
    rows = subprocess.run([tailor, "report", "--samples", trace], capture_output=True, text=True).stdout.splitlines()
    for time_ns, _, tid in (row.split("\t", 3)[:3] for row in rows[1:]):
        samples[tid].append(int(time_ns))
    most = max((samples[t] for t in forked | ended), key=len, default=[])  # (those that make them are neither)
    return [len(samples[t]) for t in forked & ended], ran, counted, sorted(most)


seconds, recordings = 0.5, 0


def block(_):
    """Agrees: nine of ten threads that were made and have ended meanwhile have three quarters of their samples and more, since they
    have none less but for interrupts that came late; where a machine keeps back a fifth of all of them, that is no evidence.  Had
    threads been missed, or found late, they would have none or fewer."""
    global seconds, recordings
    recordings += 1
    whole, ran, counted, most = record(seconds)
    there = [n for n in whole if n >= 0.75 * SAMPLES]
    print(f"FIGURE churn: {len(whole)} threads from begin to end, {len(there)} of them with {SAMPLES} samples or nearly, at most "
          f"{len(most)}; {ran:.2f} s of processor time, counted {counted:.2f} s")
    # In each recording: a thread has a sample per period of its own time, and of that of interrupts that it is held up by, which may be
    # as long.  Two counters have twice as many, and half of their samples or more are nearer to each other than a period.
    near = sum(b - a < 0.75 * period_ns for a, b in zip(most, most[1:]))
    if len(most) > 1.5 * SAMPLES and near > 0.4 * len(most):
        failures.append(f"a thread was counted more than once: {len(most)} samples, {near} of them less than a period apart, "
                        f"{SAMPLES} expected")
    # The counters' clock runs on in interrupts, where the process's may stand still, but not the other way around.
    if counted < 0.98 * ran - 0.02:
        failures.append(f"threads were missed: the host ran for {ran:.3f} s, and {counted:.3f} s were counted")
    if len(whole) < 30:
        seconds *= 2
        return None
    if sum(whole) < 0.8 * SAMPLES * len(whole) and len(there) < 0.9 * len(whole) and min(whole) > 0.3 * SAMPLES:
        return None
    return len(there) >= 0.9 * len(whole)


try:
    holds = decide("churn: nine of ten threads are counted from their begin to their end", block)
    while recordings < RECORDINGS:
        block(recordings)
finally:
    host.kill()
    host.wait()
for failure in failures:
    print("churn:", failure)
sys.exit(bool(failures) or not holds)
PYTHON

# ------------------------------------------------------------------------------ an end by signal leaves a whole trace
start "$B/hosts/busy" 1000000
wait_for burns "$host"
for signal in INT TERM; do
	attach_on "$dir/signal.tlr" "$host"
	kill -$signal $recorder
	wait_for ended $recorder || kill -9 $recorder
	wait $recorder
	status=$?
	[ $status = 0 ] || fail "SIG$signal: expected exit 0, got $status: $(cat "$dir/err")"
	"$B/tailor" dump "$dir/signal.tlr" | grep -q ' END ' || fail "SIG$signal: the trace has no END"
	ended "$host" && fail "SIG$signal: it hit the host"
done
kill_host

# --------------------------------------------------------------------------------------------------------- bad input
refused() { # NAME STATUS PATTERN ARGUMENTS...
	rm -f "$dir/no.tlr"
	attach -d 0.2 -o "$dir/no.tlr" "${@:4}"
	status=$?
	[ $status = "$2" ] || fail "$1: expected exit $2, got $status: $(cat "$dir/err")"
	grep -qE "^tailor attach: .*$3" "$dir/err" || fail "$1: expected a sentence with '$3', got: $(cat "$dir/err")"
	[ "$2" = 2 ] || [ "$(wc -l <"$dir/err")" = 1 ] || fail "$1: expected one sentence: $(cat "$dir/err")"
	[ -e "$dir/no.tlr" ] && fail "$1: left a trace behind"
}
start "$B/hosts/busy" 1000000
wait_for burns "$host"
busy=$host
refused "no process" 1 'no such process: 4194304' 4194304
refused "not a number" 2 "'sh' is not a PID; processes by their name: tailor attach --name sh" sh
refused "a PID behind an option" 2 "PIDs stand alone here: tailor attach 12 " -p 12
refused "nothing" 2 'no process given'
refused "one of two" 1 'no such process: 4194304' "$busy,4194304"
refused "no expression" 2 'is not a regular expression' --name '['
refused "no such name" 1 'no process has a name' --name '^no such name$'
refused "all and none" 2 'exclude each other' --tree --no-children "$busy"
refused "negative duration" 2 'a time above 0' -d -1 "$busy"
refused "scope thread" 2 'scope thread is not supported' --scope thread "$busy"
refused "no such event" 2 "unknown event 'nonsense'" -e nonsense "$busy"
refused "no folder" 1 'No such file' -o "$dir/no/such.tlr" "$busy"
start "$B/hosts/churn" 1000000 1 1000000000 # one thread that makes two, which stay
a_thread() { thread=$(ls "/proc/$host/task" | grep -v "^$host$" | head -n 1) && [ -n "$thread" ]; }
wait_for a_thread
refused "a thread" 1 "is a thread of process $host" "$thread"
kill_host
start /usr/bin/python3 -c 'import os, time; os.fork() or os._exit(0); time.sleep(1000000)'
is_zombie() { zombie=$(pgrep -P "$host") && grep -q 'State:.Z' "/proc/$zombie/status"; }
wait_for is_zombie
refused "a zombie" 1 'has exited' "$zombie"
kill_host
# 40 threads, and room for the counters of some of them: that is no end of the process (root raises the limit, so it is another user)
if [ "$(id -u)" = 0 ]; then
	cp "$B/tailor" "$dir/tailor"
	install -d -o nobody "$dir/nobody"
	user=(setpriv --reuid nobody --clear-groups)
else
	ln -s "$B/tailor" "$dir/tailor"
	mkdir "$dir/nobody"
	user=(env)
fi
start "${user[@]}" /usr/bin/python3 -c 'import threading, time
for _ in range(40):
    threading.Thread(target=time.sleep, args=(1000000,)).start()'
has_threads() { [ "$(ls "/proc/$host/task" | wc -l)" = 41 ]; }
wait_for has_threads
(ulimit -n 40; timeout 300 "${user[@]}" "$dir/tailor" attach -e task-clock:u -d 0.2 -o "$dir/nobody/no.tlr" "$host") 2>"$dir/err"
status=$?
[ $status = 1 ] && grep -q 'Too many open files (limit: 40, ulimit -n' "$dir/err" && ! grep -q exited "$dir/err" ||
	grep -q paranoid "$dir/err" || fail "no descriptors: exit $status: $(cat "$dir/err")"
kill_host
kernel=$(pgrep -x kthreadd) && refused "a kernel thread" 1 'is a kernel thread' "$kernel"

attach_on "$dir/first.tlr" "$busy"
refused "two recorders" 1 'already being recorded by another' "$busy"
# samples of the default rate take no more than 5 % of its time, as was measured; a rate that was asked for stays
"$B/tailor" attach -d 0.1 -e task-clock:u -o "$dir/cost.tlr" $$ 2>"$dir/err"
rate=$("$B/tailor" dump "$dir/cost.tlr" | sed -n 's/.* EVENT .*[^_]rate=\([0-9]*\).*/\1/p')
took=$(sed -n 's/.*one takes about \([0-9]*\) ns here.*/\1/p' "$dir/err")
[ "${rate:-9999}" -le 4000 ] && [ $((rate * ${took:-12500})) -le 50000000 ] ||
	fail "expected samples to take at most 5 %, got $rate of $took ns"
"$B/tailor" attach -q -d 0.1 -e task-clock:u --rate 3999 -o "$dir/cost.tlr" $$ && "$B/tailor" dump "$dir/cost.tlr" |
	grep -q ' EVENT .* rate=3999' || fail "expected --rate to be kept"
# also where both write to one file, as they do by default
timeout 300 "$B/tailor" attach -o "$dir/first.tlr" "$busy" 2>"$dir/err"
[ $? = 1 ] && [ "$(grep -c 'already being recorded by another' "$dir/err")" = "$(wc -l <"$dir/err")" ] ||
	fail "two recorders, one file: expected one sentence, got: $(cat "$dir/err")"
kill -INT $recorder
wait $recorder || fail "the first recorder was disturbed"
"$B/tailor" dump "$dir/first.tlr" | grep -q ' END ' || fail "two recorders: the first one's trace is not whole"

# one recording of two processes, and of what these start: it is found by each of them
"$B/hosts/busy" 1000000 >/dev/null &
second=$!
hosts+=($second)
sh -c '"$0" 1000000 & echo $!; wait' "$B/hosts/busy" >"$dir/third" &
parent=$!
hosts+=($parent)
wait_for [ -s "$dir/third" ]
hosts+=("$(cat "$dir/third")")
attach_on "$dir/both.tlr" "$busy,$second,$parent" --tree
for pid in "$second" "$(cat "$dir/third")"; do
	"$B/tailor" status "$pid" >"$dir/err" 2>&1 || fail "status of another process of a recording: $(cat "$dir/err")"
	grep -q "process $pid is being recorded into $dir/both.tlr" "$dir/err" || fail "status of another process: $(cat "$dir/err")"
	refused "two recorders, the other process" 1 'already being recorded by another' "$pid"
done
"$B/tailor" stop "$second" >"$dir/err" 2>&1 && wait $recorder && grep -q 'samples of' "$dir/err" ||
	fail "stop by another process of a recording: $(cat "$dir/err")"

"$B/tailor" run -q -e "$plain" -o "$dir/run.tlr" -- "$B/hosts/busy" 1000000 >/dev/null &
recorder=$!
has_agent() { inner=$(pgrep -P $recorder -x busy) && grep -q libtailor "/proc/$inner/maps"; }
wait_for has_agent
hosts+=("$inner")
refused "recorded by run" 1 'is already being recorded into .*run.tlr; that recording ends with its command' "$inner"
{ kill -9 "$inner"; wait $recorder; } 2>/dev/null

recorded() { # NAME PATTERN PID: with a notice or without ('')
	local name=$1 pattern=$2 pid=$3
	once() { # SECONDS
		attach -d "$(awk "BEGIN { print $1 * 0.2 }")" -o "$dir/yes.tlr" "$pid"
		local status=$?
		[ $status = 0 ] || { fail "$name: expected exit 0, got $status: $(cat "$dir/err")"; return 1; }
		grep -qE "$pattern" "$dir/err" || fail "$name: expected '$pattern' in: $(cat "$dir/err")"
		n=$("$B/tailor" dump "$dir/yes.tlr" | sed -n 's/.* END .*samples=\([0-9]*\).*/\1/p')
	}
	gather 100 once
	ended "$pid" && fail "$name: the host does not run any more"
}
start env TAILOR_SOCKET=tailor-1-stale "LD_PRELOAD=$B/libtailor.so" "$B/hosts/busy" 1000000
wait_for burns "$host"
recorded "a stale socket" 'samples of 1 process' "$host"
kill_host
for kind in static 32; do
	[ -x "$B/hosts/busy-$kind" ] || continue
	start "$B/hosts/busy-$kind" 1000000
	wait_for burns "$host"
	recorded "$kind" "$([ $kind = 32 ] && echo '32-bit program' || echo 'samples of 1 process')" "$host"
	kill_host
done
if unshare -p -f true 2>/dev/null; then
	start unshare -p -f --kill-child "$B/hosts/busy" 1000000
	inside() { inner=$(pgrep -P "$host" -x busy) && burns "$inner"; }
	wait_for inside
	hosts+=("$inner")
	recorded "another namespace" 'samples of 1 process' "$inner"
	kill_host
fi
/usr/bin/python3 - "$busy" <<'PYTHON' &
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(0x4206, int(sys.argv[1]), None, None):  # PTRACE_SEIZE
    sys.exit(1)
time.sleep(1000000)
PYTHON
tracer=$!
hosts+=($tracer)
traced_or_not_to_be() { grep -q "TracerPid:.$tracer" "/proc/$busy/status" || ended $tracer; }
wait_for traced_or_not_to_be
if grep -q "TracerPid:.$tracer" "/proc/$busy/status"; then
	recorded "traced" "is traced by process $tracer" "$busy"
fi
{ kill $tracer; wait $tracer; } 2>/dev/null

if [ "$(id -u)" = 0 ]; then
	setpriv --reuid nobody --clear-groups timeout 300 "$dir/tailor" attach -d 0.2 -o "$dir/nobody/t.tlr" "$busy" 2>"$dir/err"
	status=$?
	[ $status = 1 ] && grep -q 'belongs to root; run tailor as that user' "$dir/err" ||
		fail "another user: exit $status: $(cat "$dir/err")"
	start setpriv --reuid nobody --clear-groups bash -c 'while :; do :; done'
	wait_for burns "$host"
	setpriv --reuid nobody --clear-groups timeout 300 "$dir/tailor" attach -d 0.5 -o "$dir/nobody/t.tlr" "$host" 2>"$dir/err" ||
		grep -q 'paranoid' "$dir/err" || fail "as nobody: $(cat "$dir/err")"
	kill_host
fi

# processes that end just then: recorded or refused, and never anything else
nr_ended=0
for _ in $(seq 40); do
	"$B/hosts/busy" 5 >/dev/null &
	hosts+=($!)
	attach -q -o "$dir/short.tlr" $!
	status=$?
	case $status in
	0) ;;
	1) nr_ended=$((nr_ended + 1)); grep -qE 'exited|no such process' "$dir/err" || fail "ending: $(cat "$dir/err")" ;;
	*) fail "a process that ends: exit $status: $(cat "$dir/err")" ;;
	esac
done
echo "FIGURE of 40 processes that ended just then, $nr_ended could not be attached to"
finish
