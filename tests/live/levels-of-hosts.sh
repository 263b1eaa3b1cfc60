#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions and lines that unmodified hosts tell are levels: sample by sample they say what the columns of functions and lines say,
# all samples are in each level's total, a function that was inlined is a component of its own below the code object that it
# was inlined into, and views, filters and comparisons by these levels work.
. tests/live/begin.bash
ran=0

check() { # NAME COMMAND...
	name=$1
	shift
	if ! timeout 60 "$B/tailor" run -q -o "$dir/$name.tlr" -- "$@" >"$dir/out" 2>"$dir/err" ||
		! "$B/tailor" export --format csv -o "$dir/csv" "$dir/$name.tlr" ||
		! "$B/tailor" report --json "$dir/$name.tlr" >"$dir/json"; then
		echo "$name: expected a recording of '$*', got:"
		cat "$dir/err"
		bad=1
		return
	fi
	/usr/bin/python3 - "$name" "$dir/csv" "$dir/json" <<'PYTHON' || bad=1
import csv, json, os, sys
name, rows, report = sys.argv[1], list(csv.reader(open(sys.argv[2]))), json.load(open(sys.argv[3]))
head, rows = rows[0], rows[1:]
column = {h: head.index(h) for h in ("share", "mode", "image", "function", "file", "line", "method")}
level = {h: len(head) - 1 - head[::-1].index(h) for h in ("module", "code object", "function", "line")}  # behind the columns
total = report["samples"]["total"]
generated = [r for r in rows if r[column["image"]] == "(generated)" and r[column["function"]][:9] != "anonymous"]
if len(generated) < 300:
    sys.exit(f"{name}: expected at least 300 samples in generated code, got {len(generated)} of {len(rows)}")
wrong = [r for r in generated if r[column["method"]] != "ip" or r[level["code object"]] != r[column["function"]]]
if wrong:
    sys.exit(f"{name}: expected the code object that the column of functions has, got: {wrong[0]}")
lined = [r for r in generated if r[column["line"]] != "0" and r[column["file"]] != "unknown"]
wrong = [r for r in lined if r[level["line"]] != f"{os.path.basename(r[column['file']])}:{r[column['line']]}"]
if wrong:
    sys.exit(f"{name}: expected the line that the column of lines has, got: {wrong[0]}")
wrong = [r for r in lined if not r[level["function"]] or not r[level["module"]]]
if len(wrong) > len(lined) / 100:
    sys.exit(f"{name}: expected each line below a function and a module, got: {wrong[0]}")
for l in report["levels"]:
    shares = sum(c["samples"] for c in report["components"] if c["level"] == l["name"])
    if abs(shares - l["samples"]) > 0.01 * total + 1:
        sys.exit(f"{name}: level {l['name']}: expected {l['samples']} samples, components add up to {shares}")
if abs(sum(float(r[column["share"]]) for r in rows) - total) > 1:
    sys.exit(f"{name}: expected {total} samples")
by = {}
for r in rows:
    by[r[level["function"]]] = by.get(r[level["function"]], 0) + float(r[column["share"]])
hottest = sorted(((n, f) for f, n in by.items() if f), reverse=True)[:3]
called = sum(r[column["method"]] == "stack" for r in rows)
print(f"FIGURE {name}: {total} samples, {len(generated)} in generated code, {len(lined)} with a line, {called} by their caller; "
      + ", ".join(f"{f[:24]} {100 * n / total:.1f} %" for n, f in hottest))
PYTHON
	for args in "report --view plan" "report --view timeline --level function" "report --view tree --level function" \
		"report --view threads --level function" "report --view memory --level line" "report --view components --level line" \
		"export --format speedscope --level function -o $dir/exported" "export --format pprof --level line -o $dir/exported" \
		"diff --level function $dir/$name.tlr"; do
		# shellcheck disable=SC2086
		"$B/tailor" $args "$dir/$name.tlr" >"$dir/view" 2>"$dir/err" || { echo "$name: tailor $args:"; cat "$dir/err"; bad=1; }
		case $args in
		*"view plan"* | *function | *components*) grep -q '[a-z]' "$dir/view" || { echo "$name: tailor $args: nothing"; bad=1; } ;;
		esac
	done
	ran=$((ran + 1))
}

has() { command -v "$1" >/dev/null || { echo "$1 is not here"; return 1; }; }

has node && check node node tests/hosts/jits/fib.js 1 "$dir/rounds"
has luajit && check luajit luajit tests/hosts/jits/fib.lua 1 "$dir/rounds"
if has javac && has java; then
	javac -g -d "$dir" tests/hosts/jits/Fib.java tests/hosts/jits/Inlined.java && check openjdk java -cp "$dir" Fib 1 "$dir/rounds"
fi
# inlined NAME INNER OFTEN RARELY: inner is most of it, above it are the two that have it inside
inlined() {
	/usr/bin/python3 - "$dir/json" "$@" <<'PYTHON' || bad=1
import json, sys
r, (name, inner, often, rarely) = json.load(open(sys.argv[1])), sys.argv[2:]
of = {c["name"]: c for c in r["components"] if c["level"] == "function"}
objects = {c["name"]: c["samples"] for c in r["components"] if c["level"] == "code object"}
total, hot = objects.get(often, 0) + objects.get(rarely, 0), of.get(inner, {"samples": 0, "parents": []})
parents = {p["name"] for p in hot["parents"] if p["level"] == "code object"} - {inner}
if total < 500 or hot["samples"] < 0.9 * total or not parents >= {often, rarely}:
    sys.exit(f"{name}: expected 90 % of {total} samples in {inner}, inlined into {often} and {rarely}, got {hot}")
ratio = objects[often] / max(objects[rarely], 1)
if not 2 < ratio < 4.5:
    sys.exit(f"{name}: {often} does three times what {rarely} does; expected their code objects to say so, got {objects}")
print(f"FIGURE inlined in {name}: {inner} has {hot['samples']} of {total} samples, those in {often} and {rarely} are as {ratio:.2f} to 1")
PYTHON
}

if [ -e "$dir/Inlined.class" ]; then
	check openjdk-inlined java -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Inlined.often \
		-XX:CompileCommand=dontinline,Inlined.rarely -cp "$dir" Inlined 1.5
	inlined openjdk Inlined.inner Inlined.often Inlined.rarely
fi
/usr/bin/python3 -c 'import numba' 2>/dev/null && NUMBA_DEBUGINFO=1 check numba /usr/bin/python3 tests/hosts/numba_host.py 3
if has lli-14 && [ -e "$B/hosts/inlined.bc" ]; then
	check lli lli-14 --jit-kind=mcjit "$B/hosts/inlined.bc"
	inlined lli inner often rarely
fi
[ $bad = 0 ] || exit 1
[ $ran -gt 0 ] && exit 0
echo "skipped, because none of these hosts is installed"
exit 77
