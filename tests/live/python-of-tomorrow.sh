#!/bin/bash
# SPDX-License-Identifier: MIT
# A CPython that tailor leaves alone (newer than known, older than 3.8, without its global lock): nothing of it is called but the question
# for its version, it does what it does alone, and the recorder, the report and its JSON say why its functions have no names; under
# `tailor run` and by --inject, linked and opened by dlopen.  `tailor doctor` promises names for the versions that are known.
. tests/live/begin.bash
host=
trap 'kill -9 ${host:-} 2>/dev/null; rm -rf "$dir"' EXIT
PYTHON="$B/hosts/python_of_tomorrow" OPENS="$B/hosts/python_of_tomorrow-opens" LIBRARY="$B/hosts/libpython_of_tomorrow.so"
[ -x "$PYTHON" ] || skip "its host cannot be built here"
event=$(plain_event)

says_so() { # NAME KIND SENTENCE: the trace, in each form
	local text nr
	text=$("$B/tailor" report "$dir/t.tlr" | tr -s ' \n' '  ')
	[ "${text:1:$((${#3} - 1))}" = "${3:1}" ] || fail "$1: expected the report to begin with '$3', got: ${text:0:300}"
	nr=$(grep -oF "${3:1}" <<<"$text" | wc -l)
	[ "$nr" = 1 ] || fail "$1: the report has the sentence $nr times"
	"$B/tailor" report --json "$dir/t.tlr" | KIND=$2 SENTENCE=$3 /usr/bin/python3 -c '
import json, os, sys
found = [n["kind"] for n in json.load(sys.stdin)["notices"] if n["sentence"] == os.environ["SENTENCE"]]
sys.exit(found != [os.environ["KIND"]] and f"expected one notice, got: {found}")' || fail "$1: not in the JSON's notices"
}
run() { # NAME KIND SENTENCE COMMAND...
	local name=$1 kind=$2 sentence=$3 alone status got
	shift 3
	alone=$("$@" 2>&1)
	status=$?
	"$B/tailor" run -q -e "$event" -o "$dir/t.tlr" -- "$@" >"$dir/out" 2>&1
	got=$?
	[ $got = $status ] && [ "$(cat "$dir/out")" = "$alone" ] ||
		fail "$name: expected exit $status and '$alone', got $got and: $(cat "$dir/out")"
	says_so "$name" "$kind" "$sentence"
	"$B/tailor" run -q --no-adapt -e "$event" -o "$dir/t.tlr" -- "$@" >/dev/null
	"$B/tailor" report "$dir/t.tlr" | tr -s ' \n' '  ' | grep -qF "${sentence:1}" && fail "$name: --no-adapt: Python was asked"
}
ended() { ! grep -qs 'State:.[^ZX]' "/proc/$host/status"; }
burns() { [ "$(awk '{ print $14 }' /proc/$host/stat)" -ge 10 ] || ended; }
is_told() { # by a recorder; another time if no moment came in which the host could be asked
	timeout 300 "$B/tailor" attach --inject -e "$event" -d 0.2 -o "$dir/t.tlr" $host 2>"$dir/err" || ended || {
		grep -q 'try again' "$dir/err" && return 1
		fail "attach --inject: $(cat "$dir/err")"
	}
	grep -q 'attach again' "$dir/err" && return 1
	return 0
}
inject() { # NAME KIND SENTENCE COMMAND...
	local status
	"${@:4}" >"$dir/out" 2>&1 &
	host=$!
	wait_for burns
	for recorder in first second; do
		wait_for is_told
		says_so "$1, injected, $recorder recorder" "$2" "$3"
		grep -q 'ran no Python code' "$dir/err" && fail "$1: the main thread was waited for"
	done
	kill -TERM $host
	wait $host
	status=$?
	host=
	[ $status = 7 ] && [ "$(cat "$dir/out")" = enough ] || fail "$1, injected: exit $status: $(cat "$dir/out")"
}

unset PLANTED_VERSION
missing='names of Python functions are missing, because' helps='. Run python with -X perf'
sentence="CPython 3.99.1: $missing it is newer than the versions verified (3.8 to 3.15)$helps"
run newer version "$sentence" "$PYTHON" 200
run "newer, opened" version "$sentence" "$OPENS" 200 "$LIBRARY"
run "newer, two processes" version "$sentence" sh -c "'$PYTHON' 200; '$PYTHON' 200"
inject newer version "$sentence" "$PYTHON" 0
export PLANTED_VERSION='3.14.0 free-threading build (main, Oct  7 2025, 00:00:00) [GCC]'
sentence="CPython 3.14.0: $missing it is built without its global lock (free-threaded) (verified: 3.8 to 3.15)$helps"
run free-threaded version "$sentence" "$PYTHON" 200
inject free-threaded version "$sentence" "$PYTHON" 0
export PLANTED_VERSION='3.7.3 (default, Oct 31 2022, 00:00:00) [GCC]'
sentence="CPython 3.7.3: $missing it is older than the versions verified (3.8 to 3.15)"
run older version "$sentence" "$PYTHON" 200
export PLANTED_VERSION='3.14.0 (main, Oct  7 2025, 00:00:00) [GCC]' # which has all of its functions
sentence="CPython 3.14.0: $missing it does not export the functions that its frames are named by (verified: 3.8 to 3.15)$helps"
run incomplete version "$sentence" "$PYTHON" 200
inject incomplete version "$sentence" "$PYTHON" 0

"$B/tailor" doctor "$PYTHON" 20 | tr -s ' \n' '  ' | grep -qF 'functions of CPython 3.8 to 3.15 with its global lock' ||
	fail "doctor: expected the versions of CPython, got: $("$B/tailor" doctor "$PYTHON" 20)"
finish
