#!/bin/bash
# SPDX-License-Identifier: MIT
# A method of Java's that is little more than its entry and its return has its caller on the stack under run, at whichever instruction a
# sample is: where its frame is not made yet, or gone again, frame pointers alone lead to the caller's caller.
. tests/live/begin.bash
command -v javac >/dev/null || skip "javac is not installed"
cat >"$dir/Small.java" <<'JAVA'
public class Small {
	static int sum;
	static int leaf(int n) { return n ^ sum; }
	static void caller(int n) {
		for (int i = 0; i < n; i++)
			sum += leaf(i);
	}
	public static void main(String[] args) {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000000L;
		while (System.nanoTime() < end)
			caller(10000);
		System.out.println(sum);
	}
}
JAVA
javac -d "$dir" "$dir/Small.java" || exit 1
record() { # SECONDS
	"$B/tailor" run -o "$dir/t.tlr" -- java -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Small.leaf \
		-XX:CompileCommand=dontinline,Small.caller -cp "$dir" Small "$1" >"$dir/out" 2>"$dir/err" ||
		{ fail "run: exit $?: $(cat "$dir/err")"; return 1; }
	"$B/tailor" export --overwrite -f csv --function Small.leaf -o "$dir/leaf.csv" "$dir/t.tlr" || { fail "export: exit $?"; return 1; }
	"$B/tailor" export --overwrite -f csv --function Small.leaf --below function:Small.caller -o "$dir/below.csv" "$dir/t.tlr" ||
		return 1
	n=$(($(wc -l <"$dir/leaf.csv") - 1))
}
if gather 300 record; then
	below=$(($(wc -l <"$dir/below.csv") - 1))
	echo "FIGURE small methods of a JVM: of $n samples in one, $below have its caller on the stack"
	[ $((100 * below)) -ge $((95 * n)) ] || fail "expected 95 % of $n samples below Small.caller, got $below"
fi
finish
