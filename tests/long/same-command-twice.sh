#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor diff --fail-above 5%` of two recordings of one command finds nothing: at least 95 of 100 pairs (25, or PAIRS, of each of four
# programs, two seconds a recording).  A lambda that costs a fifth more, and whose number is another because one came before it, is found.
# Each program uses as much processor time as it is told, so that a busy machine changes how often it goes round, and no share.
set -u
. tests/evidence.bash
B=$(cd "$1" && pwd) || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pairs=${PAIRS:-25} seconds=${SECONDS_EACH:-2}
for tool in javac node g++; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done

cat >"$dir/Lambdas.java" <<'END'
import java.lang.management.ManagementFactory;
import java.util.function.IntUnaryOperator;

public class Lambdas {
	static int spin(IntUnaryOperator f, int n) {
		int s = 0;
		for (int i = 0; i < n; i++)
			s = f.applyAsInt(s + i);
		return s;
	}
	public static void main(String[] a) {
		long end = (long) (Double.parseDouble(a[0]) * 1e9);
		var clock = ManagementFactory.getThreadMXBean();
		int x = 0, steps = 20;
		if (a.length > 1) {
			Runnable first = () -> System.out.print("");
			first.run();
			steps = 24;
		}
		while (clock.getCurrentThreadCpuTime() < end) {
			int n = steps;
			x ^= spin(v -> { for (int i = 0; i < n; i++) v = v * 31 + 7; return v; }, 1_000_000);
			x ^= spin(v -> { for (int i = 0; i < 20; i++) v = v * 33 + 9; return v; }, 1_000_000);
			x ^= spin(v -> { for (int i = 0; i < 20; i++) v = v * 35 ^ 11; return v; }, 1_000_000);
			x ^= spin(v -> { for (int i = 0; i < 20; i++) v = v * 37 - 13; return v; }, 1_000_000);
			x ^= spin(v -> { for (int i = 0; i < 20; i++) v = v * 39 ^ 15; return v; }, 1_000_000);
		}
		System.out.println(x);
	}
}
END
cat >"$dir/program.js" <<'END'
function hash(text) { let h = 0; for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) | 0; return h; }
function sum(list) { return list.map(v => v * 3).filter(v => v & 1).reduce((a, b) => (a + b) | 0, 0); }
function sort(n) { const a = []; for (let i = 0; i < n; i++) a.push((i * 7919) % n); return a.sort((x, y) => x - y)[0]; }
const list = Array.from({ length: 2000 }, (_, i) => i), text = "a text of some length".repeat(100), end = 1e6 * process.argv[2];
let x = 0;
while (process.cpuUsage().user < end) for (let i = 0; i < 20; i++) { x ^= hash(text); x ^= sum(list); x ^= sort(500); }
console.log(x);
END
cat >"$dir/program.cc" <<'END'
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>
static volatile unsigned sink;
template <typename F> __attribute__((noinline)) unsigned each(const std::vector<unsigned> &v, F f)
{
	unsigned s = 0;
	for (unsigned x : v)
		s += f(x);
	return s;
}
__attribute__((noinline)) static unsigned sorted(std::vector<unsigned> v)
{
	std::sort(v.begin(), v.end());
	return v[v.size() / 2];
}
__attribute__((noinline)) static unsigned words(unsigned n)
{
	std::map<std::string, unsigned> m;
	for (unsigned i = 0; i < n; i++)
		m[std::to_string(i % 97)] += i;
	return m.size();
}
int main(int, char **argv)
{
	std::vector<unsigned> v(20000);
	for (unsigned i = 0; i < v.size(); i++) v[i] = i * 2654435761u;
	while (clock() < atof(argv[1]) * CLOCKS_PER_SEC)
		sink = sorted(v) + words(5000) + each(v, [](unsigned x) { return x * x % 1001; }) +
		       each(v, [](unsigned x) { return x % 37; });
}
END
javac -d "$dir" "$dir/Lambdas.java" && g++ -O2 -o "$dir/program" "$dir/program.cc" || exit 1
java=("${JAVA:-java}" -XX:CompileCommand=quiet "-XX:CompileCommand=dontinline,*.applyAsInt" -cp "$dir" Lambdas "$seconds")
node=(node "$dir/program.js" "$seconds")
cxx=("$dir/program" "$seconds")
engine=("$B/engine" --query q3 --scale 0.2 --repeat "${REPEAT:-60}")

record() { # FILE COMMAND...
	timeout 120 "$B/tailor" run -q -o "$1" -- "${@:2}" >/dev/null 2>"$dir/err" || { cat "$dir/err"; exit 1; }
}
all=0 same=0
echo "program   pairs  exit 0  exit 3"
for program in java node cxx engine; do
	declare -n command=$program
	found=0
	for ((i = 0; i < pairs; i++)); do
		record "$dir/a.tlr" "${command[@]}"
		record "$dir/b.tlr" "${command[@]}"
		"$B/tailor" diff --fail-above 5% "$dir/a.tlr" "$dir/b.tlr" >"$dir/diff" 2>&1
		status=$?
		case $status in
		0) ;;
		3) found=$((found + 1)); sed "s/^/$program: /" "$dir/diff" ;;
		*) fail "$program: tailor diff: exit $status: $(cat "$dir/diff")"; break 2 ;;
		esac
	done
	printf '%-8s %6d %7d %7d\n' $program $pairs $((pairs - found)) $found
	all=$((all + pairs)) same=$((same + pairs - found))
done
[ $((100 * same)) -ge $((95 * all)) ] || fail "expected exit status 0 in 95 of 100 pairs of equal commands, got $same of $all"

java[-1]=5
record "$dir/a.tlr" "${java[@]}"
record "$dir/b.tlr" "${java[@]}" more
"$B/tailor" diff --fail-above 1% --json "$dir/a.tlr" "$dir/b.tlr" >"$dir/json"
status=$?
/usr/bin/python3 - "$dir/json" $status <<'END' || fail "a lambda that costs a fifth more was not found: $(cat "$dir/json")"
import json, sys
rows = json.load(open(sys.argv[1]))["tables"]["changes"]
found = [r for r in rows if "Lambda" in r["name"] and r["significant"] and 0.1 < (r["cost_change"] or 0) < 0.4]
print("planted +20 %:", ", ".join(f"{r['name']} {r['cost_change']:+.1%}, paired by {r['paired']} with {r['name_b']}" for r in found))
sys.exit(not (sys.argv[2] == "3" and found))
END
finish
