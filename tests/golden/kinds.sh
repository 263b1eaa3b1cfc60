#!/bin/bash
# SPDX-License-Identifier: MIT
# The default report of fifteen kinds of programs, at 80 columns: plans of an engine, a server, Spark and SQLite, JavaScript in one
# process and in several, Java, Python by itself and in another program, C, C++, Go, a build, a whole machine, and waits.  ACCEPT=1
# takes the new text: read the difference before you commit it.
#
# Columns of samples have different names, also where a level is called as one of them.
#
# At 40, 80, 120 and 200 columns, in a C and a UTF-8 locale, through a pipe, and on a terminal: no line is wider than that, no character is
# cut, nothing of a progress line is left, and no two rows of a table are alike.
set -u
B=$1
dir=tests/golden/kinds
out=$B/golden-kinds
rm -rf "$out"
mkdir -p "$out" "$dir"
bad=0
/usr/bin/python3 tests/golden/kinds.py "$out" || exit 1
cp tests/golden/v1.tlr "$out/plan.tlr"
cp tests/golden/views/queries.tlr "$out/server.tlr"
cp tests/golden/views/offcpu.tlr "$out/offcpu.tlr"
cp tests/golden/views/names.tlr "$out/names.tlr"
for kind in plan server spark sqlite node cluster java python workers embedded c c++ go build machine offcpu; do
	echo "\$ tailor report $kind.tlr"
	LC_ALL=C.UTF-8 COLUMNS=80 "$B/tailor" report "$out/$kind.tlr"
done >"$out/report.out" 2>&1
# Whatever is asked for, samples are the same operators'; runs are those of all samples.
for command in "--sort self --top 3 python.tlr" "--view plan native.tlr" "--view plan --view queries spark.tlr" \
	"--component query:other spark.tlr" "--view lines workers.tlr" "--view lines java.tlr"; do
	echo "\$ tailor report $command"
	# shellcheck disable=SC2086
	LC_ALL=C.UTF-8 COLUMNS=80 "$B/tailor" report ${command% *} "$out/${command##* }"
done >>"$out/report.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out/report.out" "$dir/expected.txt"
elif ! diff -u "$dir/expected.txt" "$out/report.out"; then
	echo "tailor report $out/*.tlr: expected what $dir/expected.txt has (-), got the other (+)"
	bad=1
fi
# What leads in a report leads in `top`, in `diff` and `stat`, and in a store, too: programs of a build and of a machine, functions of
# others.
store=$out/kinds.tlrs
leads() { # KIND NAME: the largest row of each
	local kind=$1 name=$2 trace=$out/$1.tlr said
	"$B/tailor" db add "$store" "$out/$kind.tlr"
	said=$("$B/tailor" top --once --json "$out/$kind.tlr" | grep -o '"name":"[^"]*"' | head -n 1
		for command in "diff --all" stat; do
			# shellcheck disable=SC2086
			"$B/tailor" $command --json "$trace" "$trace" | grep -o '"name": *"[^"]*"' | sed 's/: /:/' | head -n 1
		done
		"$B/tailor" db report --json "$store" | grep -o '"name": *"[^"]*"' | sed 's/: /:/' | head -n 1
		"$B/tailor" db diff --all --json "$store" "$store" | grep -o '"name": *"[^"]*"' | sed 's/: /:/' | head -n 1)
	[ "$said" = "$(printf '"name":"%s"\n' "$name" "$name" "$name" "$name" "$name")" ] ||
		{ echo "$kind: expected top, diff, stat, db report and db diff to begin with $name, got: $said"; bad=1; }
	rm -f "$store" "$store"-*
}
leads build cc1
leads machine cc1
/usr/bin/python3 - "$B/tailor" "$out/build.tlr" <<'PYTHON' || bad=1
import json, os, re, subprocess, sys
tailor, trace = sys.argv[1:]
environment = {**os.environ, "LC_ALL": "C.UTF-8"}
def said(*command):
    return subprocess.run([tailor, *command, trace], capture_output=True, text=True, check=True, env=environment).stdout
table = said("report").split("\nCommand lines\n")[1].split("\n\n")[0]
lines = re.findall(r"^ *([\d.]+) % +[\d.]+(?: [mn]?s)? +(.*?)(?:  \(\d+ processes\))?$", table, re.M)
wanted = [(share, name) for share, name in lines if "more)" not in name]
rows = json.loads(said("top", "--once", "--json", "--by", "commands", "--rows", "0"))["rows"]
got = [(f"{100 * row['share']:.1f}", row["name"]) for row in rows][:len(wanted)]
if len(wanted) < 2 or got != wanted:
    sys.exit(f"top --by commands of a build: expected the report's command lines, {wanted}, got {got}")
PYTHON
said=$("$B/tailor" diff "$out/machine.tlr" "$out/machine.tlr"; "$B/tailor" stat --level function "$out/machine.tlr" "$out/machine.tlr")
[[ $said == *"Several programs ran, so programs are compared; --level function compares"* && $said == *" c_parse_file()"* ]] ||
	{ echo "diff and stat of a machine: expected how functions are compared, and functions, got: $said"; bad=1; }
# Of a process of a machine, another program's plan says nothing.
for command in "report $out/machine.tlr" "top --once $out/machine.tlr" "diff --all $out/machine.tlr $out/machine.tlr"; do
	# shellcheck disable=SC2086
	said=$("$B/tailor" $command --process 810)
	[[ $said == *c_parse_file* && $said != *"(unattributed)"* ]] ||
		{ echo "$command of a process of a machine: expected functions, got: $said"; bad=1; }
done
# Its interpreter's functions have no names, which is said, unless they have.
said=$("$B/tailor" report --process 895 "$out/interpreter.tlr")
named=$("$B/tailor" report --process 890 "$out/machine.tlr")
[[ $said == *"ran in Python's interpreter"* && $named != *interpreter* ]] ||
	{ echo "Python in a machine: expected a sentence where its functions have no names, got: $said $named"; bad=1; }
# A store knows a process by its program's name without the version, too, and names those that there are for one that is not there.
"$B/tailor" db add "$out/machine.tlrs" "$out/machine.tlr" 2>/dev/null
for name in python3 python3.11; do
	"$B/tailor" db report --process $name --json "$out/machine.tlrs" >"$out/$name.json" || bad=1
done
cmp "$out/python3.json" "$out/python3.11.json" || bad=1
said=$("$B/tailor" db report --process postgre "$out/machine.tlrs" 2>&1)
[[ $said == *"no process is called 'postgre'; nearest: 'postgres'; there are: "*"'cc1'"* ]] ||
	{ echo "a process that a store has not: expected the nearest one, got: $said"; bad=1; }
leads c inflate
leads cluster work
# The event log of another run is refused, and the right one can be added later.
echo '{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Task ID":0,"Launch Time":10,"Finish Time":20}}' >"$out/log"
cp "$out/java.tlr" "$out/other"
said=$("$B/tailor" plan --spark "$out/log" "$out/other" 2>&1)
status=$?
if [ $status != 1 ] || [[ $said != *"no task of the event log was found"* ]] || ! cmp "$out/java.tlr" "$out/other"; then
	echo "tailor plan with another run's event log: expected exit 1, why, and the trace as it was, got exit $status: $said"
	bad=1
fi
/usr/bin/python3 - "$B/tailor" "$out"/*.tlr <<'END_OF_PYTHON' || bad=1
import os, re, subprocess, sys, unicodedata
sys.path.insert(0, "tests")
from terminal import on_terminal

tailor, *traces = sys.argv[1:]
bad = 0

def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)

# What a terminal shows, without colours: of a line that was written over and erased its last text.
def shown_on_terminal(trace, environment):
    text = re.sub(rb"\x1b\[[0-9;]*m", b"", on_terminal([tailor, "report", trace], environment)).replace(b"\r\n", b"\n")
    return b"\n".join(re.sub(rb"^.*\r(\x1b\[K)?", b"", line) for line in text.split(b"\n"))

for trace in traces:
    for command, separator in (["export", "--format", "csv", "-o", "-"], ","), (["report", "--samples"], "\t"):
        said = subprocess.run([tailor, *command, trace], capture_output=True, text=True).stdout
        first = said.partition("\n")[0].replace(chr(34), "").split(separator)
        twice = {name for name in first if first.count(name) > 1}
        if twice or len(first) < 10:
            print(f"{' '.join(command)} {os.path.basename(trace)}: {len(first)} columns, twice: {twice}")
            bad = 1
    for width in 40, 80, 120, 200:
        for locale in "C", "C.UTF-8":
            environment = {"LC_ALL": locale, "COLUMNS": str(width), "PATH": os.environ["PATH"], "TERM": "xterm"}
            piped = subprocess.run([tailor, "report", trace], capture_output=True, env=environment).stdout
            shown = [("piped", piped)]
            if width in (40, 120) and locale != "C":
                shown.append(("on a terminal", shown_on_terminal(trace, environment)))
            for where, text in shown:
                what = f"COLUMNS={width} LC_ALL={locale} tailor report {os.path.basename(trace)} ({where})"
                try:
                    lines = text.decode("ascii" if locale == "C" else "utf-8").split("\n")
                except UnicodeDecodeError as e:
                    print(f"{what}: expected whole characters, got {e}")
                    bad = 1
                    continue
                wide = [l for l in lines if columns(l) > width]
                if wide or len(lines) < 5:
                    print(f"{what}: expected lines of at most {width} columns, got {wide[:3] or lines}")
                    bad = 1
                odd = [l for l in lines if "reading" in l or any(unicodedata.category(c) == "Cc" for c in l)]
                if odd:
                    print(f"{what}: expected nothing of progress and of a terminal's codes, got {odd[:3]}")
                    bad = 1
                table, alike = None, None
                for line in lines:
                    if not line.startswith(" "):
                        table = set()
                    elif re.match(r" +[\d.]+ % ", line):
                        name = re.sub(r"^ +[\d.]+ %[ █▏▎▍▌▋▊▉#]*([\d.]+ (%|ms|us|s)|\d+)? *", "", line)
                        alike = name if name in table else alike
                        table.add(name)
                if alike and width >= 120 and "names" not in trace:
                    print(f"{what}: expected no two rows alike, got '{alike}' twice")
                    bad = 1
sys.exit(bad)
END_OF_PYTHON
[ $bad = 0 ] && echo "reports of $(ls "$out"/*.tlr | wc -l) kinds are as expected, at four widths"
exit $bad
