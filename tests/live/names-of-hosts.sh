#!/bin/bash
# SPDX-License-Identifier: MIT
# What runtimes call their functions is taken apart in the right places: names and files with blanks (Node: `get hot`, `my fn`, "the
# file.js") stay whole, and files of one name in two packages (Java: a/X.java, b/X.java) are two modules.
# V8's builtins are no functions of the program: what calls them has their samples.  What the runtimes' own threads do is a reason.
. tests/live/begin.bash
ran=0
levels() { # LEVEL -> samples, name
	"$B/tailor" report --view components --level "$1" --json "$dir/t.tlr" >"$dir/level.json" || return
	/usr/bin/python3 -c 'import json, sys
for c in json.load(sys.stdin)["tables"][sys.argv[1]]: print(round(c["samples"]), c["name"], sep="\t")' "$1" <"$dir/level.json"
}
record() { # COMMAND... SECONDS
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- "$@" >/dev/null || { fail "tailor run -- $*: exit $?"; return 1; }
	levels function >"$dir/functions"
	levels module >"$dir/modules"
	n=$(grep -vF '(unattributed)' "$dir/modules" | awk '{ n += $1 } END { print n + 0 }')
}
has_names() { # HOST LEVEL NAME...
	local host=$1 level=$2 name
	shift 2
	for name; do
		cut -f2 "$dir/${level}s" | grep -qxF "$name" || fail "$host: expected the $level '$name', got: $(cat "$dir/${level}s")"
	done
}
has_compiler() { # HOST
	"$B/tailor" report --view reasons --json "$dir/t.tlr" >"$dir/reasons" && grep -q '"JIT compiler"' "$dir/reasons" ||
		fail "$1: expected the reason 'JIT compiler', got: $(cat "$dir/reasons")"
}
has_no_double() { # HOST: of modules
	local doubles
	doubles=$(cut -f2 "$dir/modules" | sort | uniq -d)
	[ -z "$doubles" ] || fail "$1: expected each module once, got twice: $doubles"
}

if command -v node >/dev/null; then
	ran=1
	mkdir -p "$dir/my dir"
	cat >"$dir/my dir/the file.js" <<'END'
class Shop {
	get hot() { let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; return s }
	set cold(v) { let s = 0; for (let i = 0; i < 1e6; i++) s += i % 5; this.sum = s + v }
	list() { return Array.from({ length: 20000 }, (_, i) => i % 97).map(i => 2 * i).sort().join().length }
	static async 'my fn'() { let s = 0; for (let i = 0; i < 1e6; i++) s += i % 3; return s }
}
const shop = new Shop()
async function main(end) {
	for (let sum = 0; process.cpuUsage().user < end;) {
		sum += shop.hot
		shop.cold = sum
		sum += await Shop['my fn']() + shop.list()
	}
}
main(1e6 * process.argv[2])
END
	if gather 400 record node "$dir/my dir/the file.js"; then
		has_names node function 'get hot' 'set cold' 'my fn'
		has_names node module 'my dir/the file.js'
		if grep -E 'Builtin:|Stub:' "$dir/functions"; then fail "node: V8's own code has samples that belong to its callers"; fi
		has_no_double node
		has_compiler node
		"$B/tailor" report --view lines --json "$dir/t.tlr" | grep -qF "$dir/my dir/the file.js" ||
			fail "node: expected lines of '$dir/my dir/the file.js'"
	fi
fi
if command -v javac >/dev/null && command -v java >/dev/null; then
	ran=1
	for package in a b; do
		mkdir -p "$dir/$package"
		cat >"$dir/$package/X.java" <<END
package $package;
public class X {
	public static long run_$package(long n) { long s = 0; for (long i = 0; i < n; i++) s += i % 7 * i; return s; }
}
END
	done
	cat >"$dir/Main.java" <<'END'
public class Main {
	public static void main(String[] arguments) {
		var time = java.lang.management.ManagementFactory.getThreadMXBean();
		long end = 1000000000 * Long.parseLong(arguments[0]), sum = 0;
		while (time.getCurrentThreadCpuTime() < end)
			sum += a.X.run_a(100000) + b.X.run_b(100000);
		System.out.println(sum);
	}
}
END
	if (cd "$dir" && javac -g a/X.java b/X.java Main.java); then
		if gather 400 record java -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,*.X::run_* -cp "$dir" Main; then
			has_names openjdk function a.X.run_a b.X.run_b
			has_names openjdk module a/X.java b/X.java
			has_compiler openjdk
			has_no_double openjdk
		fi
	else
		fail "javac: exit $?"
	fi
fi
[ $ran = 1 ] || skip "none of these hosts is installed"
finish
