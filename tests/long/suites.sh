#!/bin/bash
# SPDX-License-Identifier: MIT
# Real programs pass and fail the same tests of their own: alone, under tailor run, and with the agent preloaded alone; recorded each
# time.  CPython's tests of signals, processes, threads and memory come as a package; Tcl's, Perl's and PHP's with their Debian
# sources, and run in the installed programs.  What a suite fails alone counts as well: it is to fail the same way.
# SUITES="python tcl perl php" for some.  A test that does not pass twice alone is not judged, but counted.
set -u
B=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cache=$B/suites # sources are fetched once
mkdir -p "$cache/lists/partial"
limit=${SUITE_SECONDS:-120}
bad=0 ran=0

fetched() { # PACKAGE MEMBER...: its source, unpacked; prints the folder
	if [ ! -d "$cache/$1" ]; then
		echo "deb-src http://deb.debian.org/debian bookworm main" >"$cache/sources.list"
		set -- "$1" -o Dir::Etc::sourcelist="$cache/sources.list" -o Dir::Etc::sourceparts=/dev/null \
			-o Dir::State::lists="$cache/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root
		(cd "$cache" && timeout 120 apt-get "${@:2}" -qq update && timeout 200 apt-get "${@:2}" -qq source --download-only "$1") \
			>"$dir/fetch" 2>&1
		mkdir "$cache/$1.part" && tar -xf "$(ls "$cache/$1"_*.orig.tar.[gx]z | head -n 1)" --strip-components=1 -C "$cache/$1.part" \
			2>>"$dir/fetch" || { rm -rf "$cache/$1.part"; return 1; }
		mv "$cache/$1.part" "$cache/$1"
	fi
	echo "$cache/$1"
}

# Each suite: a sentence why it cannot be had, or nothing; then its run, which writes "test<tab>verdict" lines to $1.
python_missing() { [ -f /usr/lib/python3.11/test/test_signal.py ] || echo "libpython3.11-testsuite is not installed"; }
python_run() {
	python_tests="test_signal test_faulthandler test_mmap test_os test_posix test_subprocess test_thread test_threading test_fork1 \
		test_wait4 test_threadsignals test_threading_local test_ctypes test_fcntl test_poll test_epoll test_select test_resource"
	"${how[@]}" /usr/bin/python3.11 -m test --timeout 60 --junit-xml "$dir/junit.xml" $python_tests
	/usr/bin/python3 - "$dir/junit.xml" >"$1" <<'PYTHON'
import sys, xml.etree.ElementTree as E
for case in E.parse(sys.argv[1]).iter("testcase"):
	kinds = [c.tag for c in case if c.tag in ("failure", "error", "skipped")]
	print(case.get("name"), kinds[0] if kinds else "passed", sep="\t")
PYTHON
}

tcl_missing() { command -v tclsh8.6 >/dev/null || { echo "tclsh8.6 is not installed"; return; }
	fetched tcl8.6 >/dev/null || echo "the source of tcl8.6 cannot be had"; }
tcl_run() {
	"${how[@]}" tclsh8.6 "$cache/tcl8.6/tests/all.tcl" -verbose 'bpse' -singleproc 0 -tmpdir "$dir" -file \
		'[a-e]*.test fC*.test fileSystem.test for*.test if*.test inc*.test io*.test l*.test p*.test s*.test t*.test u*.test' \
		-notfile 'clock.test socket.test httpold.test' >"$dir/tcl.out"
	sed -n 's/^++++ \([^ ]*\) PASSED.*/\1\tpassed/p; s/^++++ \([^ ]*\) SKIPPED.*/\1\tskipped/p; s/^==== \([^ ]*\) .*FAILED$/\1\tfailed/p' \
		"$dir/tcl.out" >"$1"
}

perl_missing() { fetched perl >/dev/null || echo "the source of perl cannot be had"; }
perl_run() {
	(cd "$cache/perl/t" && "${how[@]}" sh -c 'for t in base/*.t cmd/*.t re/[a-q]*.t op/*.t; do
		echo "FILE $t"; timeout 20 perl -I../lib "$t" </dev/null; echo "EXIT $?"; done') >"$dir/perl.out"
	awk '/^FILE /{file = $2} /^EXIT /{print file "\texit " $2} /^ok [0-9]/{print file " " $2 "\tpassed"}
		/^not ok [0-9]/{print file " " $3 "\tfailed"}' "$dir/perl.out" >"$1"
}

php_missing() { command -v php8.2 >/dev/null || { echo "php8.2-cli is not installed"; return; }
	fetched php8.2 >/dev/null || echo "the source of php8.2 cannot be had"; }
php_run() {
	(cd "$cache/php8.2" && NO_COLOR=1 NO_INTERACTION=1 TEST_PHP_EXECUTABLE=$(command -v php8.2) TEST_PHP_ARGS=-q "${how[@]}" php8.2 run-tests.php \
		-j"$(nproc)" -n ext/opcache/tests/jit Zend/tests/generators Zend/tests/closures Zend/tests/fibers ext/pcre/tests) >"$dir/php.out"
	tr '\r' '\n' <"$dir/php.out" | sed -n 's/^\(PASS\|FAIL\|SKIP\|XFAIL\|BORK\) .*\[\([^]]*phpt\)\].*/\2\t\1/p' >"$1"
}

one() { # NAME HOW
	"$1_run" "$dir/$1.$2.raw" 2>"$dir/$1.$2.err" </dev/null
	sort "$dir/$1.$2.raw" >"$dir/$1.$2"
}

for suite in ${SUITES:-python tcl perl php}; do
	why=$(${suite}_missing)
	if [ -n "$why" ]; then
		echo "FIGURE $suite: not run, because $why"
		continue
	fi
	for how_name in alone again run preloaded; do
		case $how_name in
		alone | again) how=(timeout -k 5 "$limit") ;;
		run) how=(timeout -k 5 $((2 * limit)) "$B/tailor" run -q -o "$dir/t.tlr" --) ;;
		preloaded) how=(timeout -k 5 $((2 * limit)) env LD_PRELOAD="$B/libtailor.so" TAILOR_OUTPUT="$dir/p.tlr") ;;
		esac
		one "$suite" $how_name
	done
	# what the program itself does one way today and another way tomorrow
	comm -3 "$dir/$suite.alone" "$dir/$suite.again" | sed 's/^\t//' | cut -f 1 | sort -u >"$dir/unsteady"
	for how_name in alone run preloaded; do
		awk -F '\t' 'NR == FNR {u[$1]; next} !($1 in u)' "$dir/unsteady" "$dir/$suite.$how_name" >"$dir/$suite.$how_name.steady"
	done
	nr=$(wc -l <"$dir/$suite.alone.steady")
	echo "FIGURE $suite: $nr tests judged ($(cut -f 2 "$dir/$suite.alone.steady" | sort | uniq -c | sort -rn | head -n 4 |
		awk '{printf "%s%s %s%s", s, $1, $2, ($3 == "" ? "" : " " $3); s = ", "}')), $(wc -l <"$dir/unsteady") not steady alone"
	ran=$((ran + 1))
	if [ "$nr" -lt 100 ]; then
		echo "$suite: expected at least 100 tests, got $nr; its errors end with:"
		tail -n 5 "$dir/$suite.alone.err"
		bad=1
	fi
	for how_name in run preloaded; do
		if ! cmp -s "$dir/$suite.alone.steady" "$dir/$suite.$how_name.steady"; then
			echo "$suite, $how_name: expected the same verdicts as alone (<), got (>):"
			diff "$dir/$suite.alone.steady" "$dir/$suite.$how_name.steady" | grep '^[<>]' | head -n 40
			bad=1
		fi
	done
	"$B/tailor" report "$dir/t.tlr" >"$dir/report" 2>&1 || { echo "$suite: the trace cannot be read:"; tail -n 3 "$dir/report"; bad=1; }
done
[ $ran -gt 0 ] || { echo "skipped, because no suite can be had"; exit 77; }
exit $bad
