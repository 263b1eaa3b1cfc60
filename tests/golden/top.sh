#!/bin/bash
# SPDX-License-Identifier: MIT
# The screens of `tailor top` going through recorded traces, 40, 80 and 200 columns wide and in a C locale; and that their numbers are
# those of `tailor report --from --to` for the same stretch of the same trace.  ACCEPT=1 takes the new text.
set -u
B=$1
bad=0
B=$(realpath "$B")
out=$B/golden-top
rm -rf "$out"
mkdir -p "$out"
screens() { # COLUMNS LOCALE ARGUMENT...
	local columns=$1 locale=$2
	shift 2
	echo "\$ COLUMNS=$columns LC_ALL=$locale tailor top $*"
	COLUMNS=$columns LC_ALL=$locale timeout 60 "$B/tailor" top "$@" 2>&1
	echo "exit status $?"
	echo
}
{
	screens 80 C.UTF-8 --interval 0.04 --window 0.05 --rows 5 tests/golden/v2.tlr
	for by in operators queries functions lines processes threads; do
		screens 80 C.UTF-8 --once --by $by --rows 6 tests/golden/views/queries.tlr
	done
	screens 80 C.UTF-8 --once --by callers --rows 8 tests/golden/views/check.tlr
	screens 40 C.UTF-8 --once --by functions --sort total tests/golden/views/several.tlr --rows 6
	screens 200 C.UTF-8 --once --rows 6 tests/golden/v2.tlr
	screens 80 C --once --rows 6 tests/golden/v2.tlr
	screens 80 C.UTF-8 --once --sort name --filter '^scan' tests/golden/v2.tlr
	screens 80 C.UTF-8 --once tests/golden/views/names.tlr
	screens 80 C.UTF-8 --json -n 1 --rows 2 tests/golden/v2.tlr
	head -c 50000 tests/golden/v2.tlr >"$out/cut.tlr"
	(cd "$out" && screens 80 C.UTF-8 --once --rows 3 cut.tlr)
	screens 80 C.UTF-8 /dev/null
	screens 80 C.UTF-8 --filter '(' tests/golden/v2.tlr
	screens 80 C.UTF-8
} >"$out/top.txt" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$out/top.txt" tests/golden/top.txt
elif ! diff -u tests/golden/top.txt "$out/top.txt"; then
	echo "tailor top: expected what tests/golden/top.txt has (-), got the other (+)"
	bad=1
fi

# a store into which nothing is recorded
"$B/tailor" db add "$out/s.tlrs" tests/golden/v2.tlr && mkdir "$out/s.tlrs.epochs" && cp tests/golden/v2.tlr "$out/s.tlrs.epochs/a.tlr"
said=$(timeout 60 "$B/tailor" top --once "$out/s.tlrs" 2>&1)
[ $? = 1 ] && [[ $said == *"no \`tailor watch\` records into it; the newest epoch ended at 20"* ]] || {
	echo "tailor top of a store without tailor watch: expected a sentence and exit status 1, got: $said"
	bad=1
}

/usr/bin/python3 - "$B" <<'END' || bad=1
import json, subprocess, sys
B = sys.argv[1]
VIEW = {"operators": "components", "queries": "queries", "functions": "functions", "lines": "lines", "processes": "processes",
        "threads": "threads"}
bad = compared = 0

def tailor(*arguments):
    return subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True, check=True).stdout

def counts_of_report(by, screen, trace):
    window = [] if not screen["to_s"] else ["--from", f"{screen['from_s']:.3f}", "--to", f"{screen['to_s']:.3f}"]
    page = json.loads(tailor("report", "--json", "--view", VIEW[screen["by"]], *window, trace))
    name = screen["level"] if screen["by"] == "operators" else "queries" if screen["by"] == "queries" else screen["by"]
    rows = page["tables"].get(name, [])
    return page["samples"], sorted((round(r["samples"], 6), round(r["share"], 6)) for r in rows if r["samples"] > 0)

def check(by, trace, *how):
    global bad, compared
    for line in tailor("top", "--json", "--rows", "0", "--by", by, *how, trace).splitlines():
        screen = json.loads(line)
        got = sorted((round(r["samples"], 6), round(r["share"], 6)) for r in screen["rows"] if r["samples"] > 0)
        samples, said = counts_of_report(by, screen, trace)
        compared += len(got)
        if len(got) != len(said) or any(abs(g[0] - s[0]) > 1e-5 or abs(g[1] - s[1]) > 2e-6 for g, s in zip(got, said)):
            print(f"tailor top --by {by} {trace}, {screen['from_s']} to {screen['to_s']} s: expected what the report has, "
                  f"{said[-5:]}, got {got[-5:]}")
            bad = 1

for trace in ("v2.tlr", "views/queries.tlr", "views/several.tlr", "views/host.tlr", "views/check.tlr"):
    for by in VIEW:
        check(by, f"tests/golden/{trace}", "--once")
for by in VIEW:
    check(by, "tests/golden/v2.tlr", "--interval", "0.02", "--window", "0.03")
if compared < 200:
    print(f"expected hundreds of rows to be compared, got {compared}")
    bad = 1
sys.exit(bad)
END
exit $bad
