#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach names the compiled code of a JVM that was started without any option, also what is compiled during the recording, and walks
# the stacks through it.  One whose names come from a compiler of Java's is asked for a perf map, too; where it may not be, attach says
# why, and the JVM prints no thread dump, does not end, and loses no file.
. tests/live/begin.bash
command -v javac >/dev/null || skip "javac is not installed"
host=
trap 'kill -9 $host 2>/dev/null; rm -rf "$dir"' EXIT
chmod 755 "$dir"
plain=$(plain_event)
cat >"$dir/Host.java" <<'JAVA'
import java.nio.file.*;

public class Host {
	static int early(int n) { return n < 2 ? n : early(n - 1) + early(n - 2); }
	static int late(int n) { return n < 2 ? 1 : late(n - 1) + late(n - 2); }
	public static void main(String[] args) throws Exception {
		if (args.length > 1) {
			System.out.println(early(Integer.parseInt(args[1])));
			return;
		}
		Path folder = Path.of(args[0]);
		int sum = 0, n = Integer.getInteger("n", 32);
		for (int rounds = 0; !Files.exists(folder.resolve("enough")); rounds++) {
			sum = Files.exists(folder.resolve("go")) ? late(n) : early(n);
			if (rounds == 20)
				Files.createFile(folder.resolve("warm"));
		}
		System.out.println("done " + (sum > 0));
	}
}
JAVA
javac -d "$dir" "$dir/Host.java" || exit 1
start() { # [SETTING=VALUE...] OPTION...
	rm -rf "$dir/folder"
	mkdir -m 777 "$dir/folder"
	env "${user[@]}" "${@:1:$#-1}" java ${*: -1} -Xmx64m -cp "$dir" Host "$dir/folder" >"$dir/out" 2>"$dir/log" &
	host=$!
	rm -f "/tmp/perf-$host.map" # another program's, which had this number and left it
	wait_for is_warm
}
ended() { ! grep -qs 'State:.[^ZX]' "/proc/$host/status"; }
is_warm() { [ -e "$dir/folder/warm" ] || ended; }
finish_host() { # NAME: it ends as it does alone, and what was asked for is gone
	touch "$dir/folder/enough"
	wait_for ended
	wait $host || fail "$1: the JVM's exit status is $?: $(cat "$dir/log")"
	[ "$(cat "$dir/out")" = "done true" ] || fail "$1: the JVM printed $(head -n 20 "$dir/out")"
	! grep -v "^Picked up" "$dir/log" | grep . || fail "$1: ... that, on its other channel"
	for left in /tmp/perf-$host.map /tmp/.attach_pid$host /tmp/.java_pid$host; do
		[ ! -e "$left" ] || fail "$1: $left is left"
	done
}
user=()

# A block: a recording of its own, of a JVM that compiles late() while it is recorded.  It agrees, since one method or the other takes all
# of the time, and each is in the perf map that is written when it runs; had the second not been asked for, late() would have no name,
# in any block.
seconds=0.5
is_read() { grep -q "methods and their frames are read from the memory of process $host" "$dir/err"; }
recorded() { is_read || ! kill -0 $recorder 2>/dev/null; }
names() {
	start ""
	"$B/tailor" attach -e "$plain" -d $seconds -o "$dir/t.tlr" $host 2>"$dir/err" &
	recorder=$!
	wait_for recorded
	touch "$dir/folder/go"
	wait $recorder || { echo "attach: exit $?: $(cat "$dir/err")"; return 2; }
	is_read || { echo "attach did not read the JVM: $(cat "$dir/err")"; return 2; }
	[ ! -e /tmp/.java_pid$host ] || { echo "the JVM was asked"; return 2; }
	finish_host names
	"$B/tailor" export --overwrite --format folded -o "$dir/folded" "$dir/t.tlr" || return 2
	"$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
r = json.load(sys.stdin)
unnamed = sum(f["samples"] for f in r["functions"] if f["image"] == "[unknown]")
n, late = r["jit"]["samples"] + unnamed, sum(f["samples"] for f in r["functions"] if f["name"] == "Host.late")
named = r["jit"]["named"]
print(f"FIGURE attached to a JVM: {n} samples in generated code, {named} named, {late} in what was compiled since")
all, whole = 0, 0
for stack, weight in (line.rsplit(" ", 1) for line in open(sys.argv[1])):
    if "Host.early" in stack or "Host.late" in stack:
        all += int(weight)
        below, main, _ = stack.partition("JavaMain") # the thread starts in libc, which may have no symbols
        whole += int(weight) if main and "[" not in below else 0 # [truncated] and other reasons are the first
mine = sum(f["samples"] for f in r["functions"] if f["name"] in ("Host.early", "Host.late"))
lined = sum(f["samples"] for f in r["lines"] if f["file"].endswith("Host.java") and f["line"] in (4, 5))
print(f"FIGURE attached to a JVM: of {mine} samples in two methods, {lined} have their line")
print(f"FIGURE attached to a JVM: of {all / 1e9:.2f} s in two methods, {whole / 1e9:.2f} have a complete stack")
sys.exit(77 if n < 200 else 1 if named < 0.98 * n or whole < 0.97 * all or lined < 0.97 * mine else 77 if late < 100 else 0)' "$dir/folded"
	local status=$?
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
decide --sure "98 % of the samples in a JVM's compiled code have names, and 97 % complete stacks and lines" names

# Interpreted methods have names and lines, attached and under run.  A block agrees: all of the time is in one method, which the interpreter
# runs; without names none would be its.
interpreted() { # COMMAND...
	"$B/tailor" "$@" 2>"$dir/err" || { echo "$1: exit $?: $(cat "$dir/err")"; return 2; }
	"$B/tailor" export --overwrite --format folded -o "$dir/folded" "$dir/t.tlr" || return 2
	"$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
r = json.load(sys.stdin)
named = sum(f["samples"] for f in r["functions"] if f["name"] == "Host.early")
lined = sum(f["samples"] for f in r["lines"] if f["file"].endswith("Host.java") and f["line"] == 4)
other = sum(f["samples"] for f in r["functions"] if f["name"] == "Interpreter")
deep = sum(int(l.rsplit(" ", 1)[1]) for l in open(sys.argv[1]) if "JavaMain" in l and ";Host.main;Host.early" in l) / 1e9
print(f"FIGURE {sys.argv[2]}: {named} samples in an interpreted method, {lined} on its line, {other} nameless; {deep:.2f} s below main")
sys.exit(77 if named + other < 200 else named < 10 * other or lined < 0.95 * named or not deep)' "$dir/folded" "$1"
}
attach_interpreted() {
	start "-Xint -Dn=20"
	interpreted attach -e "$plain" -d $seconds -o "$dir/t.tlr" $host
	local status=$?
	finish_host interpreted
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
decide --sure "an attached JVM's interpreted methods have names" attach_interpreted
run_interpreted() {
	interpreted run -e "$plain" -o "$dir/t.tlr" -- java -Xint -Xmx64m -cp "$dir" Host once $n
	local status=$?
	[ $status != 77 ] || n=$((n + 2))
	return $status
}
n=30
decide --sure "interpreted methods have names under run" run_interpreted

asked() { grep -q "compiled methods named by a perf map" "$dir/err"; }
attach() { # NAME [OPTION...]
	timeout 300 "$B/tailor" attach -e "$plain" -d 0.1 -o "$dir/t.tlr" "${@:2}" $host 2>"$dir/err" ||
		fail "$1: attach: exit $?: $(cat "$dir/err")"
}
refused() { # NAME SENTENCE...: attach works, says so, and asks nothing
	attach "$1"
	grep -q "$2" "$dir/err" || fail "$1: expected \"$2\", got $(cat "$dir/err")"
	[ ! -e /tmp/.java_pid$host ] || fail "$1: the JVM was asked"
}
no_map="names of methods that a compiler in Java (JVMCI) compiled unavailable: the JVM of process [0-9]* writes no perf map"
jvmci="-XX:+UnlockExperimentalVMOptions -XX:+EnableJVMCI"
start "$jvmci -XX:+DisableAttachMechanism"
refused disabled "$no_map (-XX:+DisableAttachMechanism)"
finish_host disabled
start JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism "$jvmci"
refused "disabled in the environment" "$no_map (-XX:+DisableAttachMechanism)"
finish_host "disabled in the environment"
start "$jvmci -Xrs" # it listens from its start, and a SIGQUIT would end it
attach -Xrs
asked || fail "-Xrs: the JVM was not asked: $(cat "$dir/err")"
finish_host "reduced signals"

start "$jvmci"
echo "a map of the user's" >/tmp/perf-$host.map
refused "a map of the user's" "JVM not asked for a perf map: /tmp/perf-$host.map exists"
grep -q "a map of the user's" /tmp/perf-$host.map || fail "the user's perf map was overwritten"
rm -f /tmp/perf-$host.map
kill -STOP $host
refused stopped "$no_map (it is stopped)"
kill -CONT $host
attach "one that is not asked" --no-adapt
[ ! -e /tmp/.java_pid$host ] || fail "--no-adapt: the JVM was asked"
is_read || fail "--no-adapt: the JVM was not read"
finish_host "one that was not asked"

if [ "$(id -u)" = 0 ]; then # another user's, by root
	user=(setpriv --reuid nobody --regid nogroup --clear-groups)
	start "$jvmci"
	attach "another user"
	asked || fail "another user's JVM was not asked: $(cat "$dir/err")"
	finish_host "another user"
fi
finish
