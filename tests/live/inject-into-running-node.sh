#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject names the code of a Node that runs already, whether it computes, is in one loop, or waits for work, and again for a
# second recorder; it comes to the end that it comes to alone.  Without --inject a sentence says what is missing.  What V8 interprets is not
# its caller's time: it has a row of its own, and the report begins with it.
. tests/live/begin.bash
command -v node >/dev/null || skip "node is not installed"
command -v curl >/dev/null || skip "curl is not installed"
host=
trap 'kill -9 $host 2>/dev/null; rm -rf "$dir"' EXIT
plain=$(plain_event)
cat >"$dir/host.mjs" <<'JS'
import { createServer } from "node:http";
import { existsSync, writeFileSync } from "node:fs";
const [how, folder] = process.argv.slice(2);
function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
let rounds = 0, result = 0;
function work() {
	for (let i = 0; i < 200; i++)
		result = fib(20);
	if (++rounds === 10)
		writeFileSync(folder + "/warm", "");
}
function times(f) {
	return f();
}
function replaces() { // nearly all of it is in V8's own code, so it is never hot
	return "foo bar baz ".repeat(20000).replace(/\b(\w)(\w*)/g, "$1$2").length;
}
const done = () => existsSync(folder + "/enough");
function loop() { // optimized while it runs: V8 does not list that code among what exists
	for (let i = 0, x = 1; ; i++) {
		x = (Math.imul(x, 31) + i) | 0;
		if (i % 100000000 === 0 && i) {
			writeFileSync(folder + "/warm", String(x));
			if (done())
				return 6765;
			i = 0;
		}
	}
}
if (how === "replaces") {
	for (let i = 0; i < 1000000; i++)
		result += times(() => 1);
	for (result = 6765; !done(); writeFileSync(folder + "/warm", ""))
		times(replaces);
	console.log("result " + result);
} else if (how === "loops") {
	console.log("result " + loop());
} else if (how === "computes") {
	while (!done())
		work();
	console.log("result " + result);
} else {
	for (let i = 0; i < 10; i++)
		work();
	const server = createServer((request, response) => {
		if (request.url === "/end")
			server.close(() => console.log("result " + result)), server.closeAllConnections();
		else
			work();
		response.end();
	});
	server.listen(0, "127.0.0.1", () => writeFileSync(folder + "/port", String(server.address().port)));
}
JS
ended() { ! grep -qs 'State:.[^ZX]' "/proc/$host/status"; }
has() { [ -s "$dir/folder/$1" ] || [ -e "$dir/folder/$1" -a "$1" = warm ] || ended; }
start() { # HOW
	rm -rf "$dir/folder"
	mkdir "$dir/folder"
	node "$dir/host.mjs" "$1" "$dir/folder" >"$dir/out" 2>"$dir/log" &
	host=$!
	wait_for has warm
}
end() { # NAME: as alone
	wait_for ended
	wait $host || fail "$1: exit $?: $(cat "$dir/log")"
	[ "$(cat "$dir/out")" = "result 6765" ] && [ ! -s "$dir/log" ] || fail "$1: printed $(cat "$dir/out" "$dir/log")"
}

# A block: a recording of its own, of a host that does nothing but run two functions.  It agrees, since all of its code is announced
# when it runs next; had its isolate not been found, none of it would have a name, in any block.
seconds=0.5
named() { # FUNCTION COMMAND...: loads the host meanwhile
	local function=$1
	shift
	"$B/tailor" attach --inject -q -e "$plain" -d $seconds -o "$dir/t.tlr" $host 2>"$dir/err" &
	local recorder=$! status
	while kill -0 $recorder 2>/dev/null; do "$@"; done
	wait $recorder || { echo "attach --inject: exit $?: $(cat "$dir/err")"; return 2; }
	"$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
r = json.load(sys.stdin)
n = r["jit"]["samples"] + sum(f["samples"] for f in r["functions"] if f["image"] == "[unknown]")
named, its = r["jit"]["named"], sum(f["samples"] for f in r["functions"] if sys.argv[1] in f["name"])
print(f"FIGURE injected into node: {n} samples in generated code, {named} named, {its} in {sys.argv[1]}()")
sys.exit(77 if n < 200 else not (named >= 0.95 * n and 2 * its >= n))' $function
	status=$?
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
ask() { curl -s "http://127.0.0.1:$(cat "$dir/folder/port")/" >/dev/null; }

start computes
"$B/tailor" attach -e "$plain" -d 0.1 -o "$dir/t.tlr" $host 2>"$dir/err" || fail "attach: exit $?: $(cat "$dir/err")"
grep -q "Node: names of generated code unavailable by .*\. Record with .tailor attach --inject PID." "$dir/err" ||
	 fail "no sentence: $(cat "$dir/err")"
timeout 300 "$B/tailor" attach --inject --no-adapt -q -e "$plain" -d 0.1 -o "$dir/t.tlr" $host || fail "--no-adapt: exit $?"
"$B/tailor" dump "$dir/t.tlr" | grep -q 'NOTICE.*V8:' && fail "--no-adapt: V8 was asked"
decide --sure "a Node that computes: samples in generated code have names" named fib sleep 0.05
touch "$dir/folder/enough"
end "a host that computes"

start loops
decide --sure "a Node in one loop: samples in generated code have names" named loop sleep 0.05
touch "$dir/folder/enough"
end "a host in one loop"

interpreted() {
	"$B/tailor" attach --inject -q -e "$plain" -d $seconds -o "$dir/t.tlr" $host 2>"$dir/err" || { cat "$dir/err"; return 2; }
	"$B/tailor" report "$dir/t.tlr" >"$dir/text"
	"$B/tailor" report --view components --level function --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
own = {r["name"]: r["samples"] for r in json.load(sys.stdin)["tables"]["function"]}
n, caller = sum(own.values()), own.get("times", 0)
unnamed = own.get("interpreted, not named", 0)
of_it = unnamed + own.get("replaces", 0)
said = "that V8 interprets" in " ".join(open(sys.argv[1]).read().split())[:300]
print(f"FIGURE interpreted by V8: {n} samples, {caller} in its caller, {unnamed} without a name, {of_it} in all, said: {said}")
sys.exit(77 if n < 300 else not (caller < 0.1 * n and of_it > 0.5 * n and said == (unnamed >= 0.05 * n)))' "$dir/text"
	local status=$?
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
start replaces
decide --sure "a Node that interprets: the time is not its caller's" interpreted
touch "$dir/folder/enough"
end "a host that is interpreted"

start waits
wait_for has port
decide --sure "a Node that waits for requests: samples in generated code have names" named fib ask
curl -s "http://127.0.0.1:$(cat "$dir/folder/port")/end"
end "a host that waits"
finish
