#!/bin/bash
# SPDX-License-Identifier: MIT
# A compiled method of Java's that is nearly as long, with what is inlined, as any that HotSpot compiles, and whose names are as long as
# those of code that Spark generates: it has its inlined methods, and its lines, up to its last instructions.  The compiler's
# time is that of the methods that it compiled.
. tests/live/begin.bash
command -v javac >/dev/null || skip "javac is not installed"
package=org/engine/sql/catalyst/expressions
mkdir -p "$dir/$package"
/usr/bin/python3 - >"$dir/$package/GeneratedIteratorForStage.java" <<'PYTHON'
print("package org.engine.sql.catalyst.expressions;")
print("""public class GeneratedIteratorForStage {
	long buffer;
	long value_of_row(long i) { return hash_of_value(buffer + i); }
	static long rotated_hash_of_value(long x) { return (x << 31) | (x >>> 33); }
	static long finished_hash_of_value(long x) { return x ^ (x >>> 29); }
	static long hash_of_value(long x) { return finished_hash_of_value(rotated_hash_of_value(x * 7)); }
	void update_of_buffer(long x) { buffer ^= hash_of_value(x); }
	static long processNext(GeneratedIteratorForStage stage, long n) {
		long sum = 0;
		for (long i = 0; i < n; i++) {""")
for i in range(120):
    print(f"\t\t\tlong v{i} = stage.value_of_row(i + {i}); if (v{i} > 0) sum += v{i}; else stage.update_of_buffer(v{i});")
print("""		}
		return sum;
	}
	public static void main(String[] arguments) throws InterruptedException {
		Thread.sleep(2000); // the recorder gets to know the JVM before it compiles, and names what was compiled before it ends
		GeneratedIteratorForStage stage = new GeneratedIteratorForStage();
		long sum = 0;
		for (int i = 0; i < 2000; i++)
			sum += processNext(stage, 20);
		System.out.println(sum);
		Thread.sleep(2000);
	}
}""")
PYTHON
javac -g -d "$dir" "$dir/$package/GeneratedIteratorForStage.java" || exit 1
record()
{
	"$B/tailor" run -o "$dir/t.tlr" -- java -Xbatch -XX:-TieredCompilation -cp "$dir" ${package//\//.}.GeneratedIteratorForStage \
		>"$dir/out"
}
record || fail "run: exit $?"
"$B/tailor" dump --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
method = "GeneratedIteratorForStage.processNext"
last, whole = {}, 0
for line in sys.stdin:
    r = json.loads(line)
    if r["record"] not in ("DEBUG_INFO", "INLINES", "LOAD"):
        continue
    f = r["fields"]
    if r["record"] != "LOAD":
        last[f["code_addr"], r["record"]] = f["entries"]
    elif method in f["name"] and (f["code_addr"], "INLINES") in last:
        inlines, lines = last[f["code_addr"], "INLINES"], last.get((f["code_addr"], "DEBUG_INFO"), [])
        last_line, size = max(l["line"] for l in lines), f["code_size"]
        print(f"FIGURE large methods of a JVM: {size} bytes, {len(inlines)} inlined frames, {len(lines)} lines, up to {last_line}")
        whole += inlines[-1]["file"] != "\n" and last_line >= 131
sys.exit(not whole)' || fail "the method is described in part"

# where the recorder had too little of the processor to know the compiler when it began, the JVM runs again
compiled()
{
	"$B/tailor" report --samples --mark all "$dir/t.tlr" >"$dir/all"
	"$B/tailor" report --samples --mark "C2 ${package//\//.}.GeneratedIteratorForStage.processNext" "$dir/t.tlr" >"$dir/compiled"
	/usr/bin/python3 - "$dir" <<-'PYTHON'
		import collections, sys
		def threads(name):
		    return collections.Counter(line.split("\t")[2] for line in open(f"{sys.argv[1]}/{name}").readlines()[1:])
		of, ours = threads("all"), threads("compiled").most_common(1)
		thread, nr = ours[0] if ours else (None, 0)
		print(f"FIGURE compilers of a JVM: {nr} of {of[thread]} samples of its thread are in the compilation of the large method")
		sys.exit(nr == 0 or nr < of[thread] / 2)
	PYTHON
}
compiled || { record && compiled; } || { record && compiled; } || fail "the compiler's time is not its methods'"
finish
