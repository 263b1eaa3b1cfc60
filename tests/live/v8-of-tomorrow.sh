#!/bin/bash
# SPDX-License-Identifier: MIT
# A V8 that is newer than tailor knows: nothing of it is called but the question for its version, the host does what it does alone, and
# the recorder, the report and its JSON say so, once; under `tailor run` and by --inject, linked and opened by dlopen.  `tailor doctor`
# promises names for the versions that are known.  One that is known and has not begun is asked nothing: what it would return is
# another library's.
. tests/live/begin.bash
host=
trap 'kill -9 ${host:-} 2>/dev/null; rm -rf "$dir"' EXIT
V8="$B/hosts/v8_of_tomorrow" OPENS="$B/hosts/v8_of_tomorrow-opens" LIBRARY="$B/hosts/libv8_of_tomorrow.so"
[ -x "$V8" ] || skip "its host cannot be built here"
SENTENCE='V8 99.1.2: names of JavaScript functions are missing, because it is newer than the versions verified (9 to 14).'
SENTENCE+=' Run node with --perf-basic-prof'
event=$(plain_event)

says_so() { # NAME: the trace, in each form
	local text first nr
	text=$("$B/tailor" report "$dir/t.tlr" | tr -s ' \n' '  ')
	first=${text:0:${#SENTENCE}}
	[ "$first" = "$SENTENCE" ] || fail "$1: expected the report to begin with the sentence, got: ${text:0:300}"
	nr=$(grep -oF "$SENTENCE" <<<"$text" | wc -l)
	[ "$nr" = 1 ] || fail "$1: the report has the sentence $nr times"
	"$B/tailor" report --json "$dir/t.tlr" | SENTENCE=$SENTENCE /usr/bin/python3 -c '
import json, os, sys
found = [n["kind"] for n in json.load(sys.stdin)["notices"] if n["sentence"] == os.environ["SENTENCE"]]
sys.exit(found != ["version"] and f"expected one notice of the kind version, got: {found}")' || fail "$1: not in the JSON's notices"
}
run() { # NAME COMMAND...
	local name=$1 alone status
	shift
	alone=$("$@" 2>&1)
	status=$?
	"$B/tailor" run -q -e "$event" -o "$dir/t.tlr" -- "$@" >"$dir/out" 2>&1
	set -- $? "$@"
	[ "$1" = $status ] || fail "$name: expected exit $status, got $1"
	[ "$(cat "$dir/out")" = "$alone" ] || fail "$name: expected '$alone', got: $(cat "$dir/out")"
	shift
	says_so "$name"
	"$B/tailor" run -e "$event" -o "$dir/t.tlr" -- "$@" >"$dir/out" 2>"$dir/err"
	[ "$(grep -cxF "tailor run: $SENTENCE" "$dir/err")" = 1 ] || fail "$name: expected the sentence once, got: $(cat "$dir/err")"
}
alone=$("$B/hosts/v8_of_yesterday" 20 2>&1)
said=$("$B/tailor" run -q -e "$event" -o "$dir/t.tlr" -- "$B/hosts/v8_of_yesterday" 20 2>&1)
[ $? = 7 ] && [ "$said" = "$alone" ] || fail "before V8 began: expected '$alone' and exit 7, got '$said'"
run linked "$V8" 20
run opened "$OPENS" 20 "$LIBRARY"
run "two processes" sh -c "'$V8' 20; '$V8' 20"
"$B/tailor" run -q --no-adapt -e "$event" -o "$dir/t.tlr" -- "$V8" 20 >/dev/null
"$B/tailor" report "$dir/t.tlr" | grep -q 'are missing' && fail "--no-adapt: V8 was asked"

ended() { ! grep -qs 'State:.[^ZX]' "/proc/$host/status"; }
burns() { [ "$(awk '{ print $14 }' /proc/$host/stat)" -ge 10 ] || ended; }
is_told() { # by a recorder; another time if no moment came in which the host could be asked
	timeout 300 "$B/tailor" attach --inject -e "$event" -d 0.2 -o "$dir/t.tlr" $host 2>"$dir/err" || ended || {
		grep -q 'try again' "$dir/err" && return 1
		fail "attach --inject: $(cat "$dir/err")"
	}
	grep -qxF "tailor attach: $SENTENCE" "$dir/err" || ended
}
"$V8" 0 >"$dir/out" 2>&1 &
host=$!
wait_for burns
for recorder in first second; do
	wait_for is_told
	says_so "injected, $recorder recorder"
done
kill -TERM $host
wait $host
status=$?
host=
[ $status = 7 ] && [ "$(cat "$dir/out")" = enough ] || fail "injected: exit $status: $(cat "$dir/out")"

"$B/tailor" doctor "$V8" 20 | tr -s ' \n' '  ' | grep -qF 'names and lines of V8 9 to 14 (' ||
	fail "doctor: expected the versions of V8, got: $("$B/tailor" doctor "$V8" 20)"
finish
