#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread of Java that works on one task after another, and is called after each, has the whole name at each moment, where the kernel has
# its first 15 letters: shares by name are the processor time that Java's own clock gave to each, and --thread-name finds them.
. tests/live/begin.bash
command -v javac >/dev/null || skip "javac is not installed"
cat >"$dir/Named.java" <<'JAVA'
public class Named {
	static volatile long sum;
	static long work(String name, int rounds) {
		var time = java.lang.management.ManagementFactory.getThreadMXBean();
		Thread.currentThread().setName(name);
		long begin = time.getCurrentThreadCpuTime();
		for (int i = 0; i < rounds; i++)
			for (long n = 0; n < 1000000; n++)
				sum += n % 7 * n;
		return time.getCurrentThreadCpuTime() - begin;
	}
	static void tasks(double seconds) {
		long small = 0, large = 0;
		while (small + large < seconds * 1e9) {
			small += work("worker that has begun task 1 of 2", 5);
			large += work("worker that has begun task 2 of 2", 15);
		}
		System.out.println(small + " " + large);
	}
	public static void main(String[] args) throws Exception {
		Thread worker = new Thread(() -> tasks(Double.parseDouble(args[0])), "worker that waits for tasks");
		Thread other = new Thread(() -> { try { Thread.sleep(100000000); } catch (InterruptedException e) { } });
		other.setDaemon(true);
		other.start();
		worker.start();
		other.setName("named by another thread");
		worker.join();
	}
}
JAVA
javac -d "$dir" "$dir/Named.java" || exit 1
record() { # SECONDS
	"$B/tailor" run -o "$dir/t.tlr" -- java -cp "$dir" Named "$1" >"$dir/out" 2>"$dir/err" ||
		{ fail "run: exit $?: $(cat "$dir/err")"; return 1; }
	n=$("$B/tailor" report --view threads --json --thread-name '^worker that has begun task' "$dir/t.tlr" |
		/usr/bin/python3 -c '
import json, sys
print(sum(r["samples"] for r in json.load(sys.stdin)["tables"]["threads"]))') || fail "report: exit $?"
}
if gather 1000 record; then
	"$B/tailor" report --view threads --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
rows = json.load(sys.stdin)["tables"]["threads"]
names = {r["comm"]: r["samples"] for r in rows}
small, large = (int(ns) for ns in open(sys.argv[1]).read().split())
a, b = (names.get(f"worker that has begun task {i} of 2", 0) for i in (1, 2))
expected, n = large / (small + large), a + b
got = b / max(n, 1)
print(f"FIGURE threads of a JVM: {n} samples, {100 * got:.1f} % in the second task, {100 * expected:.1f} % of its clock")
if n < 1000 or abs(got - expected) > 0.01 + 4.5 * (expected * (1 - expected) / max(n, 1)) ** 0.5:
    sys.exit(f"expected {expected:.3f} of the task threads samples in the second task, got {names}")
if "main" not in names or any(name in names for name in ("named by another thread", "worker that ha")):
    sys.exit(f"expected the thread main, whole names, and no thread that another one named: {names}")' "$dir/out" || fail "names are wrong"
fi
finish
