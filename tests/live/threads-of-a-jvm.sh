#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread of Java that works on one task after another, and is called after each, has the whole name at each moment, where the kernel has
# its first 15 letters, under run and by attach: by the times at which the program gave the names, --thread-name finds the samples of each.
# The report's first sentence gives the samples of a collector's threads to the garbage collector, whatever function they are in.
. tests/live/begin.bash
command -v javac >/dev/null || skip "javac is not installed"
cat >"$dir/Named.java" <<'JAVA'
public class Named {
	static volatile long sum;
	static void work(String name, int rounds) {
		long begin = System.nanoTime();
		Thread.currentThread().setName(name);
		System.out.println(begin + " " + name);
		for (int i = 0; i < rounds; i++)
			for (long n = 0; n < 1000000; n++)
				sum += n % 7 * n;
	}
	static void tasks(double seconds, int rounds) {
		long begin = System.nanoTime();
		while (System.nanoTime() - begin < seconds * 1e9) {
			work("worker that has begun task 1 of 2", rounds);
			work("worker that has begun task 2 of 2", 3 * rounds);
		}
		System.out.println(System.nanoTime() + " end");
	}
	public static void main(String[] args) throws Exception {
		double seconds = Double.parseDouble(args[0]);
		int rounds = Integer.parseInt(args[1]);
		Thread worker = new Thread(() -> tasks(seconds, rounds), "worker that waits for tasks");
		Thread other = new Thread(() -> { try { Thread.sleep(100000000); } catch (InterruptedException e) { } });
		other.setDaemon(true);
		other.start();
		worker.start();
		other.setName("named by another thread");
		worker.join();
	}
}
JAVA
cat >"$dir/Garbage.java" <<'JAVA'
import java.util.LinkedList;
public class Garbage {
	public static void main(String[] args) {
		LinkedList<byte[]> kept = new LinkedList<>();
		long begin = System.nanoTime(), sum = 0;
		while (System.nanoTime() - begin < Double.parseDouble(args[0]) * 1e9) {
			for (int i = 0; i < 50; i++) {
				kept.add(new byte[20000]);
				if (kept.size() > 4000)
					kept.removeFirst();
			}
			for (int i = 0; i < 2000000; i++)
				sum += (i * 31) ^ (sum >>> 3);
		}
		System.out.println(sum & 1);
	}
}
JAVA
javac -d "$dir" "$dir/Named.java" "$dir/Garbage.java" || exit 1
declare -A pattern=([1]='^worker that has begun task 1 of 2$' [2]='^worker that has begun task 2 of 2$' [cut]='^worker that ha$')
# MOST: of the samples of both tasks, which are $n, at least such a part is in the one that was on at their time.
judge_samples() {
	local task
	for task in 1 2 cut; do # a name that no thread has is none's
		"$B/tailor" export --overwrite -f csv -o "$dir/$task.csv" --thread-name "${pattern[$task]}" "$dir/t.tlr" 2>/dev/null ||
			: >"$dir/$task.csv"
	done
	n=$(/usr/bin/python3 - "$dir" "$1" 2>"$dir/why" <<'PYTHON'
import bisect, csv, sys
folder, most = sys.argv[1], float(sys.argv[2])
log = [line.split(" ", 1) for line in open(folder + "/out")]
times = [int(t) for t, _ in log]
def task_at(ns):
    i = bisect.bisect(times, ns) - 1
    return log[i][1].strip() if i >= 0 else ""
right = [0, 0]
wrong = 0
for task in (1, 2):
    for row in csv.DictReader(open(f"{folder}/{task}.csv")):
        if task_at(int(row["time_ns"])) == f"worker that has begun task {task} of 2":
            right[task - 1] += 1
        elif task_at(int(row["time_ns"])) != "end":
            wrong += 1
cut = sum(1 for _ in csv.DictReader(open(folder + "/cut.csv")))
n = sum(right) + wrong + cut
is_wrong = sum(right) < most * n
print(n if min(right) >= 50 or is_wrong else 0)
print(f"{right} samples in the task that was on, {wrong} in the other, {cut} with the kernel's name", file=sys.stderr)
sys.exit(n >= 500 and is_wrong)
PYTHON
	) || { fail "$2: $(cat "$dir/why")"; return 1; }
	echo "FIGURE threads of a JVM, $2: $(cat "$dir/why")"
}
run() { # SECONDS
	"$B/tailor" run -o "$dir/t.tlr" -- java -cp "$dir" Named "$1" 5 >"$dir/out" 2>"$dir/err" ||
		{ fail "run: exit $?: $(cat "$dir/err")"; return 1; }
	judge_samples 0.98 run
}
if gather 500 run; then
	"$B/tailor" report --view threads --top 0 --csv "$dir/t.tlr" >"$dir/threads"
	grep -q ',"*main"*,' "$dir/threads" || fail "the first thread has no name"
	tid=$(awk -F, '/,"*main"*,/ { print $5 }' "$dir/threads")
	! grep ",$tid,.*named by another" "$dir/threads" || fail "the first thread has the name that it gave another one"
fi
collect() { # SECONDS: the sentence and the threads are of the same samples, so that no tolerance but that of rounding is needed
	"$B/tailor" run -o "$dir/t.tlr" -- java -Xmx400m "-XX:+Use${collector}GC" -cp "$dir" Garbage "$1" >/dev/null 2>"$dir/err" ||
		{ fail "run $collector: exit $?: $(cat "$dir/err")"; return 1; }
	"$B/tailor" report "$dir/t.tlr" 2>/dev/null | tr -s ' \n' ' ' >"$dir/text"
	n=$("$B/tailor" report --view threads --top 0 --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, re, sys
said = re.search(r"garbage collector ([\d.]+) %", open(sys.argv[1]).read())
said = float(said[1]) if said else 0
share, samples = {"gc": 0, "vm": 0}, {"gc": 0, "vm": 0}
for r in json.load(sys.stdin)["tables"]["threads"]:
    kind = "gc" if re.match("GC Thread|G1 ", r["comm"]) else "vm" if r["comm"] == "VM Thread" else ""
    if kind:
        share[kind] += 100 * r["share"]
        samples[kind] += r["samples"]
# the operations of the VM Thread that collect are found by the functions on their stacks, of which some are not whole
least = share["gc"] if samples["gc"] else 0.9 * share["vm"]
most = share["gc"] + share["vm"]
print(f"the first sentence says {said} %, its threads have {least:.1f} to {most:.1f} %", file=sys.stderr)
n = sum(samples.values())
print(n)
sys.exit(n >= 100 and not least - 0.15 <= said <= most + 0.15)' "$dir/text" 2>"$dir/why") ||
		{ fail "garbage collector $collector: $(cat "$dir/why")"; return 1; }
	echo "FIGURE garbage collector $collector: $(cat "$dir/why")"
}
for collector in G1 Parallel Serial; do
	gather 100 collect
done
is_warm() { [ "$(wc -l <"$dir/out")" -gt 4 ] || ! kill -0 $host 2>/dev/null; }
attach() { # SECONDS: names are read from outside, up to 50 times a second
	java -cp "$dir" Named 100000 10 >"$dir/out" 2>"$dir/err" &
	host=$!
	wait_for is_warm
	"$B/tailor" attach -d "$1" -o "$dir/t.tlr" $host 2>"$dir/err" || fail "attach: exit $?: $(cat "$dir/err")"
	kill -9 $host
	wait $host 2>/dev/null
	judge_samples 0.9 attach
}
host=
trap 'kill -9 $host 2>/dev/null; rm -rf "$dir"' EXIT
gather 500 attach
finish
