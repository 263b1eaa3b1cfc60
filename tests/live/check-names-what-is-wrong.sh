#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor check: of each mistake that a host makes (tests/hosts/mistaken.c), exactly the kind that it is, also of a child, of a host that was
# dormant, and of one that the agent was injected into; nothing of hosts that make none: the engine's queries, our hosts, forked, started
# late; exit status, the host's output, --json; and in a report each sample without an operator has a reason.
. tests/live/begin.bash
tailor=$B/tailor
mistaken=$B/hosts/mistaken

# kinds FILE: what check --json found, one line
kinds() { /usr/bin/python3 -c 'import json, sys; print(*[f["kind"] for f in json.load(open(sys.argv[1]))["tables"]["findings"]])' "$1"; }

# expect STATUS KINDS COMMAND...
expect() {
	local status=$1 wanted=$2 got found
	shift 2
	timeout 300 "$tailor" check ${options:-} --json -o "$dir/t.tlr" -- "$@" >"$dir/json" 2>"$dir/err"
	got=$?
	found=$(kinds "$dir/json" 2>&1)
	[ "$got" = "$status" ] || fail "tailor check -- $*: expected exit $status, got $got: $(cat "$dir/err")"
	[ "$found" = "$wanted" ] ||
		fail "tailor check -- $*: expected '$wanted', found '$found': $(grep -h '"example"' "$dir/json" | head -n 5)"
}

expect 0 "" "$mistaken" 1000000
expect 0 "" "$mistaken" 1000000 fork
expect 0 "" "$mistaken" 1000000 text
expect 0 "" "$mistaken" 100000000 register
expect 0 "" "$mistaken" 100000000 register-frame
options="--sampler signal" expect 0 "" "$mistaken" 100000000 word
options="--sampler timer" expect 0 "" "$mistaken" 100000000 word
while read -r mistake wanted; do
	expect 3 "$wanted" "$mistaken" 1000 "$mistake"
done <<'END'
no-level level-unknown
no-name component-name
same-id component-renamed
unlinked component-unlinked
link-to-nobody link-unknown
swapped link-reversed
edge-to-nobody edge-unknown
two-roots plan-roots
negative rows-negative
empty load-empty
unwritten load-unwritten
overlap load-overlap
map-elsewhere code-map-unknown
map-outside code-map-outside
map-of-nobody code-map-component
unload-elsewhere unload-unknown
tag-in-sp tag-register
level-again level-renamed
upper-itself level-upper
upper-nobody level-upper
two-plans level-plans
number-zero number-zero
no-fields record-refused
control record-refused
ends-other mark-unbegun
open-mark mark-open
ends-twice mark-unbegun
END

# What hosts say that make none of these.
for query in q1 q3 q6 q16 q18 q3-groupjoin fig9 pagerank; do
	# (where a tag is kept is the same for all: half of the queries, LONG=1 all)
	case $query${LONG:-} in q1 | q6 | q16 | fig9) tags=register ;; *) tags="register memory none" ;; esac
	for tag in $tags; do
		expect 0 "" "$B/engine" --query $query --scale 0.02 --tag $tag
	done
	[ "$tags" = register ] || options="--sampler signal" expect 0 "" "$B/engine" --query $query --scale 0.02 --tag memory --repeat 10
done
expect 0 "" "$B/engine" --query q3 --scale 0.02 --pack --threads 4
expect 0 "" "$B/hosts/two_plans" 5 100000
expect 0 "" "$B/hosts/queries" 20
expect 0 "" "$B/hosts/replays" 3
expect 0 "" "$B/hosts/reuse" 200
expect 0 "" "$B/hosts/unloads" 1000 1
expect 0 "" true

# A recording with a thread-local word, one that starts late, and one of a preloaded agent alone.
trace_is_right() { # TRACE WHAT
	"$tailor" check --json "$1" >"$dir/json" 2>"$dir/err" || fail "$2: expected exit 0, got $?: $(kinds "$dir/json") $(cat "$dir/err")"
}
"$tailor" run -q --sampler signal -o "$dir/t.tlr" -- "$B/engine" --query q3 --scale 0.02 --tag memory >/dev/null 2>"$dir/err" ||
	fail "tailor run --sampler signal: exit $?: $(cat "$dir/err")"
trace_is_right "$dir/t.tlr" "the engine, with its tag in a word that is sampled"
"$tailor" run --dormant -- "$B/engine" --query q3 --scale 0.02 --seconds 60 >/dev/null 2>"$dir/err" &
run=$!
host=
trap 'kill -9 $host $run 2>/dev/null; rm -rf "$dir"' EXIT
child_of() { host=$(pgrep -P "$1" | head -n 1) && [ -n "$host" ]; }
has_dormant_child() { child_of "$1" && "$tailor" status "$host" 2>/dev/null | grep -q 'is dormant'; }
wait_for has_dormant_child $run
late() { # SECONDS: $n samples
	timeout 300 "$tailor" start -o "$dir/t.tlr" "$host" >/dev/null 2>"$dir/err" ||
		{ fail "tailor start: exit $?: $(cat "$dir/err")"; return 1; }
	sleep "$1"
	timeout 300 "$tailor" stop "$host" >/dev/null 2>"$dir/err" || { fail "tailor stop: exit $?: $(cat "$dir/err")"; return 1; }
	n=$("$tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["samples"]["total"])')
}
gather 100 late && trace_is_right "$dir/t.tlr" "the engine, recorded late"
kill "$host"
wait $run
TAILOR_OUTPUT=$dir/alone.tlr LD_PRELOAD=$B/libtailor.so "$B/engine" --query q6 --scale 0.02 >/dev/null 2>"$dir/err" ||
	fail "preload alone: exit $?: $(cat "$dir/err")"
is_whole() { "$tailor" report --json "$dir/alone.tlr" 2>/dev/null | grep -q '"complete": true'; }
wait_for is_whole && trace_is_right "$dir/alone.tlr" "the engine, with a preloaded agent alone"

# What is seen only where it is sampled.
sampled() { # MISTAKE KIND SECONDS: $n samples
	timeout 300 "$tailor" run -q $sampler -o "$dir/t.tlr" -- "$mistaken" $((20000000 * $3)) "$1" >/dev/null 2>"$dir/err" ||
		{ fail "tailor run -- mistaken $1: exit $?: $(cat "$dir/err")"; return 1; }
	"$tailor" check --json "$dir/t.tlr" >"$dir/json"
	case $(kinds "$dir/json") in
	"$2" | "") ;;
	*) fail "tailor check -- mistaken $1: expected '$2', found '$(kinds "$dir/json")'" && return 1 ;;
	esac
	n=$(/usr/bin/python3 -c 'import json, sys
print(sum(int(f["samples"]) for f in json.load(open(sys.argv[1]))["tables"]["findings"]))' "$dir/json")
}
sampler=
gather 10 sampled unregistered code-unregistered
gather 10 sampled text-unlinked source-unlinked
gather 10 sampled text-of-other-name source-unknown
gather 10 sampled text-too-short line-beyond-text
gather 10 sampled late-link link-late
gather 100 sampled talks cost
gather 10 sampled register-frame-missing tag-missing
gather 10 sampled register-frame-13 tag-missing
gather 10 sampled register-frame-shift tag-id
gather 10 sampled register-missing tag-missing
gather 10 sampled register-13 tag-missing
gather 10 sampled register-other tag-other
gather 10 sampled register-shift tag-id
sampler="--sampler signal"
gather 10 sampled word-other tag-other
gather 10 sampled word-id tag-id
gather 10 sampled word-task tag-task

# Hosts that are recorded late, dormant, or in a child: the same.
runs() { [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ]; }
knows_code() { ! kill -0 $run 2>/dev/null || "$tailor" dump "$dir/t.tlr" 2>/dev/null | grep -q ' LOAD '; }
in_a_way() { # WAY KINDS MISTAKE SECONDS: $n samples of what was found
	local way=$1 found
	rm -f "$dir/t.tlr"
	sampler=
	case $way in
	forked)
		"$tailor" run -q -o "$dir/t.tlr" -- "$mistaken" $((20000000 * $4)) fork "$3" >/dev/null 2>"$dir/err" ||
			{ fail "tailor run -- mistaken fork $3: exit $?: $(cat "$dir/err")"; return 1; } ;;
	injected)
		"$mistaken" 1000000 serve "$3" >/dev/null &
		host=$!
		wait_for runs $host mistaken || return 1
		"$tailor" attach -q --inject -o "$dir/t.tlr" $host 2>"$dir/err" &
		run=$!
		wait_for knows_code || return 1
		sleep "$4"
		kill $run
		wait $run || fail "tailor attach: exit $?: $(cat "$dir/err")"
		kill $host
		wait $host ;;
	dormant)
		"$tailor" run --dormant -- "$mistaken" 1000000 serve "$3" >/dev/null 2>"$dir/err" &
		run=$!
		wait_for has_dormant_child $run || return 1
		late "$4" || return 1
		kill "$host"
		wait $run ;;
	esac
	"$tailor" check --json "$dir/t.tlr" >"$dir/json" 2>"$dir/err"
	found=$(kinds "$dir/json")
	# a recorder that did not run for 80 ms when a process began is told from mistakes, and not one
	if [ "$found" = record-dropped ]; then
		n=0 dropped=$((dropped + 1))
		[ $dropped -lt 20 ] || { undecided "recorders have no processor in time on this machine"; return 1; }
		in_a_way "$@"
		return
	fi
	[ "$found" = "$2" ] || [ -z "$found" ] || { fail "mistaken $3, $way: expected '$2', found '$found'"; return 1; }
	n=$(/usr/bin/python3 -c 'import json, sys
print(sum(max(1, int(f["samples"])) for f in json.load(open(sys.argv[1]))["tables"]["findings"]))' "$dir/json")
}
for way in forked injected dormant; do
	dropped=0
	in_a_way $way "" register 1
	gather 1 in_a_way $way component-unlinked unlinked
	gather 1 in_a_way $way link-reversed swapped
	gather 1 in_a_way $way load-unwritten unwritten
	gather 10 in_a_way $way tag-other register-other
done

# Samples of a component without a link have that reason.

unlinked() { # SECONDS: $n samples on no operator
	timeout 300 "$tailor" run -q -o "$dir/t.tlr" -- "$mistaken" $((20000000 * $1)) unlinked >/dev/null 2>"$dir/err" ||
		{ fail "tailor run -- mistaken unlinked: exit $?: $(cat "$dir/err")"; return 1; }
	"$tailor" report "$dir/t.tlr" >"$dir/text" && "$tailor" report --json "$dir/t.tlr" >"$dir/json" ||
		{ fail "tailor report: exit $?"; return 1; }
	n=$(/usr/bin/python3 - "$dir/text" "$dir/json" 2>&1 <<'END'
import json, re, sys
text, report = open(sys.argv[1]).read(), json.load(open(sys.argv[2]))
on_none = int(re.search(r"(\d+) +\(unattributed\)", text).group(1))
listed = {name: int(n) for n, name in re.findall(r"^ *[\d.]+ % +(\d+)  unattributed ([a-z ]+):", text, re.M)}
listed |= {name: int(n) for n, name in re.findall(r"^[\d.]+ % \((\d+) samples\) unattributed, ([a-z ]+):", text, re.M)}
if sum(listed.values()) != on_none:
    sys.exit(f"{on_none} samples on no operator, reasons of {sum(listed.values())}:\n{text}")
level = next(l for l in report["levels"] if l["name"] == "operator")
if level["unlinked"] != listed.get("no link", 0) or sum(report["reasons"].values()) + level["unlinked"] != on_none:
    sys.exit(f"--json: expected {listed}, got unlinked {level['unlinked']} and {report['reasons']}")
found = {f["kind"]: f for f in report["host_data"]}
if set(found) != {"component-unlinked"} or found["component-unlinked"]["samples"] != level["unlinked"]:
    sys.exit(f"--json: expected host_data of component-unlinked with {level['unlinked']} samples, got {found}")
if "Host data that cannot be right" not in text:
    sys.exit(f"expected a section 'Host data that cannot be right', got:\n{text}")
print(int(level["unlinked"]))
END
	) || { fail "$n"; return 1; }
}
gather 10 unlinked

# Exit status, output and options.
out=$("$tailor" check -- "$mistaken" 1000 2>"$dir/err") || fail "tailor check -- mistaken: expected exit 0, got $?: $(cat "$dir/err")"
[ "${out%%$'\n'*}" = "done" ] || fail "tailor check: expected the host's own output first, got: $out"
echo "$out" | grep -q "Nothing was found" || fail "tailor check: expected 'Nothing was found', got: $out"
out=$("$tailor" check -- "$mistaken" 1000 unlinked)
[ $? = 3 ] && echo "$out" | grep -q "component-unlinked" ||
	fail "tailor check -- mistaken unlinked: expected exit 3 and the finding, got: $out"
echo "$out" | LC_ALL=C.UTF-8 grep -nE '^.{81,}' && fail "tailor check: expected at most 80 columns, got the lines above"
out=$("$tailor" check -- "$mistaken" 1000 word) && echo "$out" | grep -q "Tags were not checked: .*thread-local word" ||
	fail "tailor check -- mistaken word: expected that tags were not checked, got: $out"
misused() { # STATUS SENTENCE ARGUMENT...
	local status=$1 sentence=$2 got
	shift 2
	out=$(TMPDIR=$dir "$tailor" check "$@" 2>&1)
	got=$?
	[ $got = "$status" ] && echo "$out" | grep -qF -e "$sentence" ||
		fail "tailor check $*: expected exit $status and '$sentence', got $got: $out"
}
misused 2 "no command to run"
misused 2 "behind --" "$mistaken" 1000
misused 2 "--output is for a command" -o "$dir/x" "$dir/t.tlr"
misused 2 "--sampler is for a command" --sampler signal "$dir/t.tlr"
misused 2 "--sampler must be" --sampler kernel -- true
misused 1 "No such file" "$dir/no-such.tlr"
misused 1 "command not found" -- "$dir/no-such-command"
misused 1 "exited with status 1" -- false
misused 2 "" --rate 0 -- true
left=$(ls -d "$dir"/tailor-check.* 2>/dev/null)
[ -z "$left" ] || fail "tailor check: expected no folder to stay, got $left"
finish
