#!/bin/bash
# SPDX-License-Identifier: MIT
# Real programs pass and fail the same tests of their own: alone, under tailor run, and with the agent preloaded alone; recorded each
# time.  CPython's tests of signals, processes, threads and memory come as a package; Tcl's, Perl's and PHP's with their Debian
# sources, and run in the installed programs.  What a suite fails alone counts as well: it is to fail the same way.
# What ends otherwise with the agent is tried again: if it does so twice, and not alone, it is a difference; else it is counted.
# SUITES="python tcl perl php python_short", WAYS="run preloaded" for some.
set -u
B=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cache=$B/suites # sources are fetched once
mkdir -p "$cache/lists/partial"
limit=${SUITE_SECONDS:-600}
bad=0 ran=0
export TMPDIR=$dir

fetched() { # PACKAGE: its source, unpacked
	[ -d "$cache/$1" ] && return
	echo "deb-src http://deb.debian.org/debian bookworm main" >"$cache/sources.list"
	local apt=(apt-get -qq -o Dir::Etc::sourcelist="$cache/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State::lists="$cache/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
	(cd "$cache" && timeout 120 "${apt[@]}" update && timeout 200 "${apt[@]}" source --download-only "$1") >"$dir/fetch" 2>&1
	mkdir -p "$cache/$1.part"
	tar -xf "$(find "$cache" -name "$1_*.orig.tar.[gx]z" | head -n 1)" --strip-components=1 -C "$cache/$1.part" 2>>"$dir/fetch" &&
		mv "$cache/$1.part" "$cache/$1"
}

# Each suite: a sentence why it cannot be had, or nothing; then its run, which writes "test<tab>verdict" lines to $1.
python_missing() { [ -f /usr/lib/python3.11/test/test_signal.py ] || echo "libpython3.11-testsuite is not installed"; }
python_tests() { # OUTPUT ARGUMENT...
	"${how[@]}" /usr/bin/python3.11 -m test -j4 --timeout 100 --junit-xml "$dir/junit.xml" "${@:2}"
	/usr/bin/python3 - "$dir/junit.xml" >"$1" <<'PYTHON'
import sys, xml.etree.ElementTree as E
for case in E.parse(sys.argv[1]).iter("testcase"):
	kinds = [c.tag for c in case if c.tag in ("failure", "error", "skipped")]
	print(case.get("name"), kinds[0] if kinds else "passed", sep="\t")
PYTHON
}
python_run() {
	python_tests "$1" test_signal test_faulthandler test_mmap test_os test_posix test_subprocess test_thread test_threading test_fork1 \
		test_wait4 test_threadsignals test_threading_local test_ctypes test_fcntl test_poll test_epoll test_select test_resource \
		test_multiprocessing_main_handling test_pty test_ioctl test_sys_settrace test_gc
}
# what takes no more than a minute for both ways
python_short_missing() { python_missing; }
python_short_run() {
	python_tests "$1" test_signal test_mmap test_posix test_subprocess test_thread test_threading test_threading_local test_ctypes \
		test_fork1 test_epoll -i '*stress_delivery*' -i '*timeout*' -i '*sigtimedwait*' -i '*siginterrupt*'
}

tcl_missing() { command -v tclsh8.6 >/dev/null || { echo "tclsh8.6 is not installed"; return; }
	fetched tcl8.6 || echo "the source of tcl8.6 cannot be had"; }
tcl_run() {
	cat >"$dir/tcl.sh" <<-'END'
		for test; do tclsh8.6 "$SUITE/$test.test" -verbose bpse -tmpdir "$TMPDIR"; done
	END
	SUITE=$cache/tcl8.6/tests "${how[@]}" sh "$dir/tcl.sh" append autoMkindex basic binary chan cmdAH cmdIL cmdMZ dict encoding event \
		exec expr fCmd fileSystem format get interp ioCmd iogt lsearch msgcat namespace oo pid pkgMkIndex proc regexp scan source \
		string tailcall thread timer trace uplevel var >"$dir/tcl.out"
	sed -n -e 's/^++++ \([^ ]*\) PASSED.*/\1\tpassed/p' -e 's/^++++ \([^ ]*\) SKIPPED.*/\1\tskipped/p' \
		-e 's/^==== \([^ ]*\) .*FAILED$/\1\tfailed/p' "$dir/tcl.out" >"$1"
}

perl_missing() { fetched perl || echo "the source of perl cannot be had"; }
perl_run() {
	rm -rf "$dir/perl" && mkdir "$dir/perl"
	cat >"$dir/perl.sh" <<-'END'
		for t; do
			case $t in ../*) cd "${t%/t/*}"; part=${t%/t/*}/; t=t/${t##*/}; lib=lib ;; *) part= lib=../lib ;; esac
			out=$OUT/$(echo "$part$t" | tr / _)
			timeout 30 perl -I$lib "$t" >"$out" 2>/dev/null </dev/null
			echo "EXIT $?" >>"$out"
		done
	END
	(cd "$cache/perl/t" && printf '%s\n' base/*.t cmd/*.t re/[a-q]*.t op/*.t io/*.t \
		../dist/{threads,threads-shared,Thread-Queue,Time-HiRes,IO}/t/*.t ../ext/{POSIX,IPC-Open3}/t/*.t |
		OUT=$dir/perl "${how[@]}" xargs -n 1 -P 4 sh "$dir/perl.sh")
	awk '{ file = FILENAME; sub(/.*\//, "", file) } /^EXIT /{print file "\texit " $2} /^ok [0-9]/{print file " " $2 "\tpassed"}
		/^not ok [0-9]/{print file " " $3 "\tfailed"}' "$dir"/perl/* >"$1"
}

php_missing() { command -v php8.2 >/dev/null || { echo "php8.2-cli is not installed"; return; }
	fetched php8.2 || echo "the source of php8.2 cannot be had"; }
php_run() {
	(cd "$cache/php8.2" && NO_COLOR=1 NO_INTERACTION=1 TEST_PHP_EXECUTABLE=$(command -v php8.2) TEST_PHP_ARGS=-q \
		"${how[@]}" php8.2 run-tests.php -j4 -n ext/opcache/tests/jit Zend/tests/generators Zend/tests/closures \
		Zend/tests/fibers ext/pcre/tests ext/pcntl/tests ext/posix/tests) >"$dir/php.out"
	tr '\r' '\n' <"$dir/php.out" | sed -n 's/^\(PASS\|FAIL\|SKIP\|XFAIL\|BORK\) .*\[\([^]]*phpt\)\].*/\2\t\1/p' >"$1"
}

one() { # SUITE WAY NAME: its verdicts, sorted, in $dir/NAME
	case $2 in
	alone) how=(timeout -k 5 "$limit") ;;
	run) how=(timeout -k 5 $((2 * limit)) "$B/tailor" run -q -o "$dir/$1.tlr" --) ;;
	preloaded) how=(timeout -k 5 $((2 * limit)) env LD_PRELOAD="$B/libtailor.so" TAILOR_OUTPUT="$dir/$1.tlr") ;;
	esac
	"$1_run" "$dir/raw" >"$dir/$3.out" 2>"$dir/$3.err" </dev/null
	sort -u "$dir/raw" >"$dir/$3"
}
differing() { comm -3 "$dir/alone" "$dir/$1" | sed 's/^\t//' | cut -f 1 | sort -u; } # NAME: what does not end as alone

for suite in ${SUITES:-python tcl perl php}; do
	why=$(${suite}_missing)
	if [ -n "$why" ]; then
		echo "FIGURE $suite: not run, because $why"
		continue
	fi
	one "$suite" alone alone
	once=0 unsteady=0
	for way in ${WAYS:-run preloaded}; do
		one "$suite" "$way" "$way"
		for _ in $(seq 100); do # preloaded alone, its recorder ends a little later
			"$B/tailor" dump "$dir/$suite.tlr" >"$dir/dump" 2>/dev/null && grep -q ' END ' "$dir/dump" && break
			sleep 0.1
		done
		heard=$(grep -c ' GUEST ' "$dir/dump")
		[ "$heard" -ge 2 ] || { echo "$suite, $way: expected the agent in its processes, and heard of $heard"; bad=1; }
		differing "$way" >"$dir/first"
		[ -s "$dir/first" ] || continue
		# is it us, or does the program itself end so now and then?
		one "$suite" "$way" "$way.2"
		differing "$way.2" >"$dir/second"
		one "$suite" alone again
		differing again >"$dir/unsteady"
		comm -12 "$dir/first" "$dir/second" | comm -23 - "$dir/unsteady" >"$dir/different"
		once=$((once + $(comm -23 "$dir/first" "$dir/different" | wc -l))) unsteady=$(wc -l <"$dir/unsteady")
		[ -s "$dir/different" ] || continue
		echo "$suite, $way: expected the same verdicts as alone (<), got (>):"
		diff <(grep -Ff "$dir/different" "$dir/alone") <(grep -Ff "$dir/different" "$dir/$way.2") | grep '^[<>]' | head -n 40
		bad=1
	done
	nr=$(wc -l <"$dir/alone")
	verdicts=$(cut -f 2 "$dir/alone" | sort | uniq -c | sort -rn | head -n 4 | awk '{$1 = $1; printf "%s%s", s, $0; s = ", "}')
	echo "FIGURE $suite: $nr tests ($verdicts), $heard processes heard;" \
		"with the agent $once ended otherwise, but only once; $unsteady did alone"
	ran=$((ran + 1))
	if [ "$nr" -lt 100 ]; then
		echo "$suite: expected at least 100 tests, got $nr; its errors end with:"
		tail -n 5 "$dir/alone.err"
		bad=1
	fi
done
[ $ran -gt 0 ] || { echo "skipped, because no suite can be had"; exit 77; }
exit $bad
