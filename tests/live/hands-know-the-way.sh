#!/bin/bash
# SPDX-License-Identifier: MIT
# Who knows perf gets there without the manual: `record` takes perf's letters, readers take the newest trace, what the last recording made
# is kept as .old, files have names, formats go by endings, and a perf.data file is sent to import.
# Rights: which messages a recording has
. tests/live/begin.bash
cd "$dir" || exit 1
expect() { # STATUS WORDS COMMAND...: exits so, and says these words
	local status=$1 words=$2
	shift 2
	"$@" >"$dir/out" 2>&1
	local got=$?
	[ $got = "$status" ] || fail "$*: expected exit $status, got $got: $(cat "$dir/out")"
	grep -qF -- "$words" "$dir/out" || fail "$*: expected '$words', got $(cat "$dir/out")"
}
tailor=$B/tailor

expect 2 "no trace given, and none (*.tlr) in this folder" "$tailor" report
expect 0 "in tailor.tlr" "$tailor" record -F 999 -g -e task-clock -- "$B/engine" --query q3 --scale 0.01
"$tailor" dump tailor.tlr | grep -q ' rate=999 ' || fail "record -F 999: expected that rate in the trace"
"$tailor" dump tailor.tlr | grep -q "COMMAND_LINE text=\"$B/engine --query q3 --scale 0.01\"" ||
	fail "expected the command line in the trace"
"$tailor" scrub -o scrubbed tailor.tlr && ! "$tailor" dump scrubbed | grep 'COMMAND_LINE.*engine' || fail "scrub kept a command line"
first=$(sha256sum <tailor.tlr)
# What a machine lacks is said by doctor, once, and by the trace, not by each recording.  What this user lacks is said each time.
if "$tailor" doctor | tr -s ' \n' ' ' | grep -q 'no hardware counters'; then
	expect 0 "in n.tlr" "$tailor" run -o n.tlr -- true
	lines=1
	[ "$(plain_event)" = task-clock ] || lines=2
	[ "$(wc -l <"$dir/out")" = $lines ] || fail "run where there are no counters: expected $lines lines, got $(cat "$dir/out")"
	[ $lines = 1 ] || grep -q 'kernel samples unavailable' "$dir/out" ||
		fail "expected that kernel samples are unavailable, got $(cat "$dir/out")"
	"$tailor" dump n.tlr | grep -q 'cycles unavailable (no PMU)' || fail "expected the trace to say that cycles are unavailable"
fi
expect 0 "in tailor.tlr" "$tailor" record -c 1000003 -e task-clock --call-graph dwarf,8192 -- "$B/engine" --query q3 --scale 0.01
[ "$(sha256sum <tailor.tlr.old)" = "$first" ] || fail "the first recording is not in tailor.tlr.old"
"$tailor" dump tailor.tlr | grep -q ' stack_bytes=8192 ' || fail "record --call-graph dwarf,8192: expected so many stack bytes"
second=$(sha256sum <tailor.tlr)
expect 127 "command not found" "$tailor" record -- "$dir/nothing"
expect 2 "" "$tailor" record -e no-such-event -- true
[ "$(sha256sum <tailor.tlr)" = "$second" ] || fail "a recording that did not begin took the last one away"
expect 2 "-p and -a exclude each other" "$tailor" record -a -p 1
expect 2 "no command, no -p PID and no -a given" "$tailor" record
[ "$(id -u)" != 0 ] || expect 0 "in all.tlr" "$tailor" record -a -F 99 -o all.tlr -- sleep 0.3

# a running process, for as long as a command takes, and for half a second
"$B/engine" --query q3 --scale 0.01 --seconds 600 >/dev/null &
host=$!
expect 0 "in p.tlr" "$tailor" record -p $host -o p.tlr -e task-clock -- sleep 0.3
expect 0 "in d.tlr" "$tailor" attach -d 300ms -o d.tlr $host
expect 2 "--duration must be a time above 0" "$tailor" attach -d 3x -o d.tlr $host
# a command that ends before the recording has begun, and one that is not there
expect 0 "in q.tlr" "$tailor" record -p $host -o q.tlr -- true
"$tailor" dump q.tlr | grep -q ' END ' || fail "record -p PID -- true: expected a whole trace"
expect 127 "command not found" "$tailor" record -p $host -o q.tlr -- "$dir/nothing"
kill $host
wait $host 2>/dev/null

# the newest trace; files by its name; formats by their endings
touch -d '1 minute ago' ./*.tlr && touch d.tlr
touch "$(printf 'a\033[2Jb.tlr')" # is no trace's name
expect 0 "d.tlr, the newest trace in this folder" "$tailor" report
expect 0 "d.svg (" "$tailor" flamegraph
"$tailor" flamegraph -o f.svg tailor.tlr || fail "flamegraph -o: exit $?"
"$tailor" export -f flamegraph tailor.tlr | cmp -s - f.svg || fail "flamegraph differs from export --format flamegraph"
for format in svg:flamegraph folded:folded speedscope.json:speedscope firefox.json:firefox perfetto.json:perfetto pb:pprof csv:csv \
	json:json; do
	"$tailor" export --overwrite -o "x.${format%%:*}" tailor.tlr && "$tailor" export --overwrite -f "${format#*:}" -o want tailor.tlr &&
		cmp -s want "x.${format%%:*}" || fail "export -o x.${format%%:*} is not --format ${format#*:}"
done
"$tailor" export -o x.pb.gz tailor.tlr && gzip -dc x.pb.gz | cmp -s - x.pb || fail "export -o x.pb.gz is not x.pb as gzip has it"
if type -P go >/dev/null; then
	expect 0 " total" go tool pprof -top x.pb.gz
fi
"$tailor" export -f folded -o - tailor.tlr | cmp -s - x.folded || fail "export -o - does not write to standard output"
expect 2 "does not end like that of a format" "$tailor" export -o x.txt tailor.tlr
if "$tailor" html --help >/dev/null 2>&1; then
	expect 0 "tailor.html (" "$tailor" html tailor.tlr
	[ -s tailor.html ] || fail "html without -o: expected tailor.html"
fi

# --open: what the desktop has is shown the file, or a sentence
mkdir bin
printf '#!/bin/sh\necho "$1" >"%s/shown.new"\nmv "%s/shown.new" "%s/shown"\n' "$dir" "$dir" "$dir" >bin/xdg-open
chmod +x bin/xdg-open
expect 0 "tailor.svg (" env "PATH=$dir/bin:$PATH" "$tailor" flamegraph --open tailor.tlr
for ((i = 0; i < 3000; i++)); do [ ! -e shown ] || break; sleep 0.01; done
[ "$(cat shown 2>/dev/null)" = tailor.svg ] || fail "--open: expected xdg-open tailor.svg, got $(cat shown 2>&1)"
expect 0 "there is no xdg-open" /usr/bin/env PATH="$dir/none" "$tailor" flamegraph --open tailor.tlr

expect 2 "similar: report" "$tailor" reprot
expect 2 "nearest: 'timeline'; there are: 'plan', " "$tailor" report --view time-line tailor.tlr
expect 2 "nearest: 'speedscope'; there are: 'folded', " "$tailor" export -f speedscpoe tailor.tlr
expect 2 "nearest: '.folded'; there are: '.folded', '.svg'" "$tailor" export -o x.foldd tailor.tlr
expect 2 "has no event 'task-clok'; nearest: 'task-clock'; there are: 'task-clock'" "$tailor" report --event task-clok tailor.tlr
expect 2 "has no thread 1; there are: '" "$tailor" report --thread 1 tailor.tlr
expect 2 "has no process 1; there are: '" "$tailor" report --process 1 tailor.tlr
expect 2 "has no mark 'runs'; nearest: 'run'; there are: " "$tailor" report --mark runs tailor.tlr
expect 2 "has no level 'operatr'; nearest: 'operator'; there are: 'operator', " "$tailor" report --level operatr tailor.tlr
expect 2 "has no component 'hash jion'; nearest: 'hash join" "$tailor" report --component "operator:hash jion" tailor.tlr
"$tailor" report --json --component "operator:hash join" tailor.tlr >joins.json
"$tailor" report --json --component "hash join" tailor.tlr | cmp -s - joins.json ||
	fail "--component 'hash join' is not --component 'operator:hash join'"
"$tailor" report --json --below main tailor.tlr | cmp -s - <("$tailor" report --json --below function:main tailor.tlr) ||
	fail "--below main is not --below function:main"
expect 2 "has no component 'hash jion'; nearest: 'hash join" "$tailor" report --component "hash jion" tailor.tlr
expect 0 "in plain.tlr" "$tailor" run -o plain.tlr -- true
expect 2 "nor any other; --function and --below take functions" "$tailor" report --component main plain.tlr
expect 0 "nearest: 'samples'; there are: " "$tailor" report --view threads --sort sampels tailor.tlr
expect 2 "there is no table 'treads'; nearest: 'threads'; there are: 'threads'" "$tailor" report --view threads --table treads tailor.tlr

# CSV: a file for each table, or one table; the same text
"$tailor" report --view components --view threads --csv=tables tailor.tlr || fail "--csv=tables: exit $?"
"$tailor" report --view components --view threads --csv --table threads tailor.tlr | cmp -s - tables/threads.csv ||
	fail "--csv --table threads is not --csv=DIR's threads.csv"
[ "$(ls tables | tr '\n' ' ')" = "$("$tailor" report --view components --view threads --json tailor.tlr |
	/usr/bin/python3 -c 'import json, sys; print(*sorted(t + ".csv" for t in json.load(sys.stdin)["tables"]), end=" ")')" ] ||
	fail "--csv=tables: expected a file for each table of --json, got $(ls tables)"
"$tailor" report --csv --table threads tailor.tlr | cmp -s - tables/threads.csv || fail "--table threads does not find its view"
"$tailor" report --csv=summary tailor.tlr && [ -s summary/functions.csv ] && [ -s summary/operator.csv ] ||
	fail "--csv=summary: expected functions.csv and operator.csv, got $(ls summary)"
expect 2 "--csv requires --view, or a folder" "$tailor" report --csv tailor.tlr
expect 1 "cannot create the folder" "$tailor" report --view threads --csv=tailor.tlr/x tailor.tlr
colours() { grep -c "$(printf '\033')" "$dir/out"; }
expect 0 "" env NO_COLOR=1 "$tailor" report --color always tailor.tlr
[ "$(colours)" -gt 0 ] || fail "--color always: expected colours in a file"
expect 0 "" "$tailor" report --color never tailor.tlr
[ "$(colours)" = 0 ] || fail "--color never: expected none"
expect 2 "--color must be auto, always or never" "$tailor" report --color alway tailor.tlr
printf 'PERFILE2%0100d' 0 >perf.data
expect 1 "\`tailor import perf.data\` makes a trace of it" "$tailor" report perf.data
finish
