#!/bin/bash
# SPDX-License-Identifier: MIT
# Every view of `tailor report` on a fixed trace, as text (UTF-8 and ASCII), JSON and CSV; a view without expected text is a
# failure.  ACCEPT=1 takes the new text: read the difference before you commit it.
#
# several.tlr: BUILD/bench/synthetic 400 5 several.tlr events (make BUILD/bench/synthetic).
# memory.tlr: ... 1500 5 memory.tlr memory; code.tlr: ... 400 5 code.tlr marks.
# check.tlr: tailor run -r 500 --stack 512 -- BUILD/hosts/mistaken 40000000 unlinked two-roots negative ends-twice tag-in-sp same-id;
# scrubbed.
# Of calls and cpi: made here, by tests/golden/calls.py and cpi.py.
# queries.tlr: BUILD/bench/synthetic_plans 1000 12 queries.tlr.
# whatif.tlr: as root, chrt -r 1 tailor run --no-preload -e task-clock,context-switches --rate 500 --stack 2048 -- BUILD/hosts/tasks locked
# --threads 2 --work 2000 --share 80; scrubbed.
# host.tlr: ... 400 40 host.tlr functions: functions and lines are all that its host tells.
#
# Also: no line of text is wider than 80 columns, and colour and cursor codes come on a terminal only.
set -u
B=$1
dir=tests/golden/views
bad=0
out=$B/golden-views
rm -rf "$out"
mkdir -p "$out"

# views NAME TRACE: the list is the program's own
views=$("$B/tailor" help report | sed -n '/^Views:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p')
[ "$(echo "$views" | wc -l)" -ge 10 ] || { echo "tailor help report: expected a list of views, got: $views"; exit 1; }

for made in calls cpi; do
	/usr/bin/python3 "tests/golden/$made.py" "$out/$made.tlr" || exit 1
done

trace_of() {
	case $1 in
	events) echo "$dir/several.tlr" ;;
	calls | cpi) echo "$out/$1.tlr" ;;
	stalls) echo "$out/cpi.tlr" ;;
	resources | critical) echo "$dir/whatif.tlr" ;;
	*) if [ -e "$dir/$1.tlr" ]; then echo "$dir/$1.tlr"; else echo tests/golden/v1.tlr; fi ;;
	esac
}

for view in $views; do
	trace=$(trace_of "$view")
	more=()
	case $view in cpi | stalls) more=(--processor none) ;; esac # whether llvm-mca is installed
	{
		echo "\$ tailor report --view $view"
		LC_ALL=C.UTF-8 "$B/tailor" report --view "$view" "${more[@]}" "$trace"
		echo
		echo "\$ LC_ALL=C tailor report --view $view --intervals --top 3"
		LC_ALL=C "$B/tailor" report --view "$view" --intervals --top 3 "${more[@]}" "$trace"
	} >"$out/$view.txt" 2>&1
	"$B/tailor" report --view "$view" --json "${more[@]}" "$trace" >"$out/$view.json" 2>&1
	"$B/tailor" report --view "$view" --csv "${more[@]}" "$trace" >"$out/$view.csv" 2>&1
	for form in txt json csv; do
		if [ "${ACCEPT:-}" = 1 ]; then
			cp "$out/$view.$form" "$dir/$view.$form"
		elif ! diff -u "$dir/$view.$form" "$out/$view.$form"; then
			echo "tailor report --view $view ($form): expected what $dir/$view.$form has (-), got the other (+)"
			bad=1
		fi
	done
	if LC_ALL=C.UTF-8 grep -nE '^.{81,}' "$out/$view.txt"; then
		echo "tailor report --view $view: expected at most 80 columns, got the lines above"
		bad=1
	fi
	if sed -n '/LC_ALL=C/,$p' "$out/$view.txt" | LC_ALL=C grep -n '[^ -~	]'; then
		echo "LC_ALL=C tailor report --view $view: expected ASCII, got the lines above"
		bad=1
	fi
	/usr/bin/python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$out/$view.json" || bad=1
done

# Several events are columns of one table.
LC_ALL=C.UTF-8 "$B/tailor" report --view plan --view functions --view asm "$dir/several.tlr" >"$out/several.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out/several.out" "$dir/several.txt"
elif ! diff -u "$dir/several.txt" "$out/several.out"; then
	echo "tailor report --view plan --view functions --view asm: expected what $dir/several.txt has (-), got the other (+)"
	bad=1
fi

# What would help, of the same trace.
{
	for command in "whatif" "whatif --cores 1..4" "whatif --target 30ms" "whatif --target 23ms" "whatif --target 10ms" \
		"whatif --cores 1 --explain" "whatif --threads task*=1" "whatif --threads x=1"; do
		echo "\$ tailor $command"
		# shellcheck disable=SC2086
		LC_ALL=C.UTF-8 "$B/tailor" $command "$dir/whatif.tlr"
		echo
	done
	echo "\$ tailor whatif --verify AFTER KEPT"
	"$B/tailor" whatif --cores 1 --keep "$out/kept.txt" "$dir/whatif.tlr" >"$out/kept.out"
	LC_ALL=C.UTF-8 "$B/tailor" whatif --verify "$dir/whatif.tlr" "$out/kept.txt"
	printf '\n$ tailor whatif, of a trace without context switches\n'
	LC_ALL=C.UTF-8 "$B/tailor" whatif tests/golden/v2.tlr
} >"$out/whatif.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out/whatif.out" "$dir/whatif.txt"
elif ! diff -u "$dir/whatif.txt" "$out/whatif.out"; then
	echo "tailor whatif: expected what $dir/whatif.txt has (-), got the other (+)"
	bad=1
fi

# ... as a picture: a mark for each prediction, as far to the right as it takes.
"$B/tailor" whatif --json --svg "$out/whatif.svg" "$dir/whatif.tlr" >"$out/whatif.json" || bad=1
/usr/bin/python3 - "$out/whatif.svg" "$out/whatif.json" <<'END' || bad=1
import json, sys
from xml.etree import ElementTree
svg = "{http://www.w3.org/2000/svg}"
picture = ElementTree.parse(sys.argv[1]).getroot()
x = [float(c.get("cx")) for c in picture.iter(svg + "circle")]
t = [p["completion_ns"] for p in json.load(open(sys.argv[2]))["tables"]["predictions"]]
left, scale = x[0] - t[0] * (x[-1] - x[0]) / (t[-1] - t[0]), (x[-1] - x[0]) / (t[-1] - t[0])
if len(x) != len(t) or any(abs(left + scale * b - a) > 0.2 for a, b in zip(x, t)) or abs(left - 330) > 1:
    sys.exit(f"tailor whatif --svg: expected a mark at each of {t}, got {x}")
if not any("lock=take_ticket" == e.text for e in picture.iter(svg + "text")):
    sys.exit("tailor whatif --svg: expected the lock's name")
END

# Functions and lines of a host that declares no levels are levels: of the report, of views, of comparisons and exports.
host=$dir/host.tlr
{
	for command in "report --top 4" "report --view plan" "report --view components --top 3" \
		"report --view timeline --level function --top 3" \
		"report --view tree --level module" "report --view components --level line --component module:app/module_2.js" \
		"report --view plan --csv --component function:function_3" "diff --level function --top 3 $host"; do
		echo "\$ tailor $command"
		# shellcheck disable=SC2086
		LC_ALL=C.UTF-8 "$B/tailor" $command "$host"
	done
	echo "\$ tailor export --format folded --level module"
	"$B/tailor" export --overwrite --format folded --level module -o "$out/host.folded" "$host" && cat "$out/host.folded"
} >"$out/host.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out/host.out" "$dir/host.txt"
elif ! diff -u "$dir/host.txt" "$out/host.out"; then
	echo "reports of functions and lines as levels: expected what $dir/host.txt has (-), got the other (+)"
	bad=1
fi

# The text of lines, of files that stand elsewhere, one of them changed since.
mkdir -p "$out/app"
for m in 0 1 2 3 4 5 6; do
	seq -f "	line %g of module $m;	/* so long that it does not fit beside the others in eighty columns */" \
		240 >"$out/app/module_$m.js"
	touch -d @$((m == 6 ? 2000000000 : 0)) "$out/app/module_$m.js"
done
{
	for command in "--view lines --top 8" "--view ir" "--view callers" "--view lines --csv --top 3"; do
		echo "\$ tailor report $command --source-path /synthetic/app=app"
		# shellcheck disable=SC2086
		LC_ALL=C.UTF-8 "$B/tailor" report $command --source-path "/synthetic/app=$out/app" "$host" | head -n 60
	done
	echo "\$ tailor report --view lines --top 1"
	LC_ALL=C.UTF-8 "$B/tailor" report --view lines --top 1 "$host"
} >"$out/texts.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out/texts.out" "$dir/texts.txt"
elif ! diff -u "$dir/texts.txt" "$out/texts.out"; then
	echo "reports with the text of lines: expected what $dir/texts.txt has (-), got the other (+)"
	bad=1
fi
if grep -v csv "$out/texts.out" | grep -v '^"' | LC_ALL=C.UTF-8 grep -nE '^[^,]{81,}$'; then
	echo "tables with the text of lines: expected at most 80 columns, got the lines above"
	bad=1
fi

# A server that interprets plans: nodes by query, in all processes or in one, as frames of call stacks, compared by name.
server=$dir/queries.tlr
{
	for command in "report --top 4" "report --view plan --top 2" "report --view plan --csv --top 2" \
		"report --view plan --process 1001 --component node:Hash --top 1" "report --view tree --level node --top 12" \
		"diff --level node --top 3 $server"; do
		echo "\$ tailor $command"
		# shellcheck disable=SC2086
		LC_ALL=C.UTF-8 "$B/tailor" $command "$server"
	done
	echo "\$ tailor export --format folded --level node"
	"$B/tailor" export --format folded --level node -o "$out/queries.folded" "$server" && sort "$out/queries.folded" | head -n 12
} >"$out/server.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out/server.out" "$dir/server.txt"
elif ! diff -u "$dir/server.txt" "$out/server.out"; then
	echo "reports of a server that interprets plans: expected what $dir/server.txt has (-), got the other (+)"
	bad=1
fi

# Counts: columns where there are some, what is assumed, and tables sorted by a column.
counts=$out/calls.tlr
{
	for command in "report --view components --top 4" "report --view functions --sort calls_out --top 3" \
		"report --view asm --hottest --top 3" "report --view components --csv --top 3 --sort executions" \
		"report --view calls --top 4 --assume exists?.8->on-diag?=866" \
		"report --view calls --top 2 --assume exists?.8->on-diag?=5000" \
		"report --view calls --top 1 --assume exists?.9->b=1 --assume on-diag-loop:0->1=866" \
		"report --view calls --sort callee --top 3" "report --view components --sort nothing --top 1"; do
		echo "\$ tailor $command"
		# shellcheck disable=SC2086
		LC_ALL=C.UTF-8 "$B/tailor" $command "$counts"
	done
} >"$out/counts.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out/counts.out" "$dir/counts.txt"
elif ! diff -u "$dir/counts.txt" "$out/counts.out"; then
	echo "reports of execution counts: expected what $dir/counts.txt has (-), got the other (+)"
	bad=1
fi

# Each operator's line of the stalls is what the view says of that operator alone.
/usr/bin/python3 - "$B/tailor" "$out/cpi.tlr" <<'END' || bad=1
import json, subprocess, sys

def tables(*more):
    command = [sys.argv[1], "report", "--view", "stalls", "--processor", "none", "--json", *more, sys.argv[2]]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["tables"]

whole = tables()
rows, bad = whole["components"], 0
for row in rows:
    alone = tables("--component", "operator:" + row["name"])
    functions, summary = alone["functions"], {s["cause_key"]: s for s in alone["summary"]}
    cycles = sum(f["share"] for f in functions)
    stalled = sum(f["share"] * f["stalled"] for f in functions) / cycles
    (only,) = alone["components"]
    if abs(stalled - row["stalled"]) > 1e-6 or abs(1 - summary.get("not_analyzed", {"at_most": 0})["at_most"] - row["analyzed"]) > 1e-6 or \
       {**only, "share": 0} != {**row, "share": 0}:
        print(f"report --view stalls --component operator:{row['name']}: expected what the row {row} says, got {only}, stalled {stalled}")
        bad = 1
if [r["name"] for r in rows] != ["sum", "filter", "scan"] or abs(sum(r["share"] for r in rows) - 1) > 1e-6 or \
   not rows[0]["causes"].startswith("data-cache miss") or not rows[1]["causes"].startswith("division"):
    print(f"report --view stalls: expected the operators sum (data-cache miss), filter (division) and scan, all together 100 %, got {rows}")
    bad = 1
sys.exit(bad)
END

# A terminal gets colour, unless NO_COLOR says otherwise; a pipe never does.
/usr/bin/python3 - "$B/tailor" <<'END' || bad=1
import os, subprocess, sys
sys.path.insert(0, "tests")
from terminal import on_terminal

COMMAND = [sys.argv[1], "report", "--view", "plan", "tests/golden/v1.tlr"]
bad = 0
for what, text, expected in (("on a terminal", on_terminal(COMMAND, os.environ | {"TERM": "xterm"}), True),
                             ("on a terminal with NO_COLOR", on_terminal(COMMAND, os.environ | {"NO_COLOR": "1"}), False),
                             ("into a pipe", subprocess.run(COMMAND, capture_output=True).stdout, False)):
    got = b"\x1b[1m" in text
    if got != expected or b"hash join" not in text:
        print(f"tailor report {what}: expected colour: {expected}, got: {text[:200]!r}")
        bad = 1
sys.exit(bad)
END
[ $bad = 0 ] && echo "$(echo "$views" | wc -l) views are as expected"
exit $bad
