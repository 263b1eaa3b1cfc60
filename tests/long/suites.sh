#!/bin/bash
# SPDX-License-Identifier: MIT
# Real programs pass and fail the same tests of their own: alone, under tailor run, and with the agent preloaded alone; recorded each
# time.  CPython's tests of signals, processes, threads and memory come as a package; Tcl's, Perl's, PHP's and PostgreSQL's with their
# Debian sources, and run in the installed programs.  What a suite fails alone counts as well: it is to fail the same way.
# What ends otherwise with the agent is tried again, until it is decided whether it is the agent, or ends now so and now so.
# SUITES="python tcl perl php postgres python_short", WAYS="run preloaded" for some.
set -u
B=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ENOUGH_S=${ENOUGH_S:-3600} # suites take minutes
. tests/evidence.bash
cache=$B/suites # sources are fetched once
mkdir -p "$cache/lists/partial"
limit=${SUITE_SECONDS:-1500} # of what hangs, not of what is slow
ran=0
export TMPDIR=$dir

fetched() { # PACKAGE: its source, unpacked
	[ -d "$cache/$1" ] && return
	echo "deb-src http://deb.debian.org/debian bookworm main" >"$cache/sources.list"
	local apt=(apt-get -qq -o Dir::Etc::sourcelist="$cache/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::State::lists="$cache/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
	(cd "$cache" && timeout 120 "${apt[@]}" update && timeout 200 "${apt[@]}" source --download-only "$1") >"$dir/fetch" 2>&1
	mkdir -p "$cache/$1.part"
	tar -xf "$(find "$cache" -name "$1_*.orig.tar.[gxb]z*" | head -n 1)" --strip-components=1 -C "$cache/$1.part" 2>>"$dir/fetch" &&
		mv "$cache/$1.part" "$cache/$1"
}

# Each suite: a sentence why it cannot be had, or nothing; then its run, which writes "test<tab>verdict" lines to $1.  CPython's runs the
# modules alone that are named behind that.
python_missing() { [ -f /usr/lib/python3.11/test/test_signal.py ] || echo "libpython3.11-testsuite is not installed"; }
python_tests() { # OUTPUT ARGUMENT...
	"${how[@]}" /usr/bin/python3.11 -m test -j4 --timeout 1000 --junit-xml "$1.xml" "${@:2}"
	/usr/bin/python3 - "$1.xml" >"$1" <<'PYTHON'
import sys, xml.etree.ElementTree as E
for case in E.parse(sys.argv[1]).iter("testcase"):
	kinds = [c.tag for c in case if c.tag in ("failure", "error", "skipped")]
	print(case.get("name"), kinds[0] if kinds else "passed", sep="\t")
PYTHON
}
python_run() {
	local out=$1
	shift
	[ $# -gt 0 ] || set -- test_signal test_faulthandler test_mmap test_os test_posix test_subprocess test_thread test_threading \
		test_fork1 test_wait4 test_threadsignals test_threading_local test_ctypes test_fcntl test_poll test_epoll test_select \
		test_resource test_multiprocessing_main_handling test_pty test_ioctl test_sys_settrace test_gc
	python_tests "$out" "$@"
}
# what takes a quarter of a minute; it waits most of the time, so both ways go side by side
python_short_missing() { python_missing; }
python_short_run() {
	local out=$1
	shift
	[ $# -gt 0 ] || set -- test_signal test_mmap test_posix test_subprocess test_thread test_threading test_threading_local \
		test_ctypes test_fork1 test_epoll
	python_tests "$out" "$@" -i '*stress_delivery*' -i '*timeout*' -i '*sigtimedwait*' -i '*siginterrupt*'
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

# The server is what is recorded; clients are not.  Privileged users it refuses.
PG=/usr/lib/postgresql/15 # the version whose source is fetched
postgres_missing() {
	[ -x $PG/bin/postgres ] || { echo "postgresql-15 is not installed"; return; }
	[ -x $PG/lib/pgxs/src/test/regress/pg_regress ] && [ -d /usr/include/postgresql/15/server ] ||
		{ echo "postgresql-server-dev-15 is not installed"; return; }
	fetched postgresql-15 || echo "the source of postgresql-15 cannot be had"
}
postgres_run() {
	local user=() here=$1.d pid port=$((20000 + RANDOM % 10000))
	rm -rf "$here" && mkdir "$here" && cp -r "$cache/postgresql-15/src/test/regress" "$here/regress" || return
	gcc -O1 -fPIC -shared -I/usr/include/postgresql/15/server -o "$here/regress/regress.so" "$here/regress/regress.c" || return
	chmod 711 "$dir"
	[ "$(id -u)" != 0 ] || { user=(runuser -u postgres --) && chown -R postgres "$here"; }
	"${user[@]}" $PG/bin/initdb -D "$here/data" --no-locale -E UTF8 -A trust -U postgres >"$here/initdb" || return
	"${how[@]}" "${user[@]}" $PG/bin/postgres -D "$here/data" -p $port -k "$here" -c listen_addresses= -c fsync=off \
		-c max_prepared_transactions=2 >"$here/log" 2>&1 &
	pid=$!
	wait_for $PG/bin/pg_isready -q -h "$here" -p $port
	(cd "$here/regress" && PATH=$PG/bin:$PATH "${user[@]}" $PG/lib/pgxs/src/test/regress/pg_regress --bindir=$PG/bin --inputdir=. \
		--outputdir=. --dlpath=. --host="$here" --port=$port --user=postgres --schedule=parallel_schedule --dbname=regression)
	kill -INT "$(head -n 1 "$here/data/postmaster.pid")"
	wait $pid
	sed -n 's/^\(test\|  *\) *\([a-z_0-9]*\)  *\.\.\. \(ok\|FAILED\|failed (ignored)\).*/\2\t\3/p' "$here/regress/regression.out" >"$1"
}

one() { # SUITE WAY [MODULE...]: its verdicts, sorted, in $dir/WAY
	local way=$2
	case $way in
	alone) how=(timeout -k 5 "$limit") ;;
	run) how=(timeout -k 5 "$limit" "$B/tailor" run -q -o "$dir/$1.tlr" --) ;;
	preloaded) how=(timeout -k 5 "$limit" env LD_PRELOAD="$B/libtailor.so" TAILOR_OUTPUT="$dir/$1.tlr") ;;
	esac
	"$1_run" "$dir/raw.$way" "${@:3}" >"$dir/$way.out" 2>"$dir/$way.err" </dev/null
	sort -u "$dir/raw.$way" >"$dir/$way"
}
both() { # SUITE WAY [MODULE...]: alone, and that way
	local beside=
	[ "$1" != python_short ] || beside=1
	one "$1" alone "${@:3}" &
	[ "$beside" ] || wait $!
	one "$1" "${@:2}"
	wait $! # the latest that was started
}
differing() { comm -3 "$dir/alone" "$dir/$1" | sed 's/^\t//' | cut -f 1 | sort -u; } # WAY: what does not end as alone
verdicts() { test=$2 awk -F '\t' '$1 == ENVIRON["test"] { print $2 }' "$dir/$1" | paste -sd,; } # WAY TEST
ended() { "$B/tailor" dump "$dir/$suite.tlr" >"$dir/dump" 2>/dev/null && grep -q ' END ' "$dir/dump"; }

worse() { # WAY: how many more of the tests fail, or do not end, than alone
	awk -F '\t' '{ seen[$1]; if ($2 ~ /^(passed|PASS|ok|skipped|SKIP|XFAIL|exit 0)$/) well[side, $1] }
		END { for (t in seen) n += ((1, t) in well) - ((2, t) in well); print n + 0 }' side=1 "$dir/alone" side=2 "$dir/$1"
}

# A fault that hits one process in twenty hits other tests each time, and none of them again and again.  A block is a run of both ways.  It
# contradicts if more tests fail with the agent than alone: if the agent does not matter, half of the blocks at most, since the two are
# exchangeable; with such a fault, of some hundred tests that start processes, all but a few of a thousand.  So one that agrees is enough.
together() { # SUITE WAY
	local begin=$SECONDS outcomes='' n
	while :; do
		n=$(worse "$2")
		[ "$n" -gt 0 ] && outcomes+=0 || outcomes+=1
		case $(/usr/bin/python3 tests/evidence.py "$outcomes" 0.5 0.004) in
		holds) return 0 ;;
		refuted)
			fail "$1, $2: in run after run more tests fail than alone ($outcomes), in the last $n more, such as" \
				"$(differing "$2" | head -n 5 | paste -sd' ')"
			return 1
			;;
		esac
		if [ $((SECONDS - begin)) -gt "$ENOUGH_S" ]; then
			undecided "this machine gave only ${#outcomes} blocks of evidence in $((SECONDS - begin)) s ($outcomes)"
			return 1
		fi
		both "$1" "$2"
	done
}

# Does what ended otherwise at first end so because of the agent?  Both ways again and again, and of each such test, a block: it contradicts
# if the test ends alone as at first and with the agent as at first.  If the agent does not matter, a test that ends so with probability p
# and so with 1 - p does that in a quarter of the blocks at most, on a slow machine as on a busy one: the two are exchangeable.  If the
# agent is the reason, it does it in all of them.
RIGHT=0.75 WRONG=0.1
settle() { # SUITE WAY: of what is in $dir/first
	local begin=$SECONDS test modules
	declare -A outcomes=() alone_first=() with_first=()
	while IFS= read -r test; do
		outcomes[$test]='' alone_first[$test]=$(verdicts alone "$test") with_first[$test]=$(verdicts "$2" "$test")
	done <"$dir/first"
	while [ ${#outcomes[@]} -gt 0 ]; do
		if [ $((SECONDS - begin)) -gt "$ENOUGH_S" ]; then
			undecided "this machine gave only so many blocks of evidence in $((SECONDS - begin)) s: $(declare -p outcomes)"
			return
		fi
		modules=()
		case $1 in
		python*) mapfile -t modules < <(printf '%s\n' "${!outcomes[@]}" | sed -n 's/^test\.\([^.]*\)\..*/\1/p' | sort -u) ;;
		esac
		both "$1" "$2" "${modules[@]}"
		for test in "${!outcomes[@]}"; do
			if [ "$(verdicts alone "$test")" = "${alone_first[$test]}" ] &&
				[ "$(verdicts "$2" "$test")" = "${with_first[$test]}" ]; then
				outcomes[$test]+=0
			else
				outcomes[$test]+=1
			fi
			case $(/usr/bin/python3 tests/evidence.py "${outcomes[$test]}" $RIGHT $WRONG) in
			holds) unset "outcomes[$test]" ;;
			refuted)
				fail "$1, $2: $test: expected the same verdict as alone (${alone_first[$test]})," \
					"got ${with_first[$test]}; again (0) and again: ${outcomes[$test]}"
				unset "outcomes[$test]"
				;;
			esac
		done
	done
}

for suite in ${SUITES:-python tcl perl php postgres}; do
	why=$(${suite}_missing)
	if [ -n "$why" ]; then
		echo "FIGURE $suite: not run, because $why"
		continue
	fi
	unsteady=0
	for way in ${WAYS:-run preloaded}; do
		both "$suite" "$way"
		nr=$(wc -l <"$dir/alone")
		said=$(cut -f 2 "$dir/alone" | sort | uniq -c | sort -rn | head -n 4 | awk '{$1 = $1; printf "%s%s", s, $0; s = ", "}')
		tail -n 5 "$dir/alone.err" >"$dir/errors"
		wait_for ended # preloaded alone, its recorder ends a little later
		heard=$(grep -c ' GUEST ' "$dir/dump")
		[ "$heard" -ge 2 ] || fail "$suite, $way: expected the agent in its processes, and heard of $heard"
		differing "$way" >"$dir/first"
		unsteady=$((unsteady + $(wc -l <"$dir/first")))
		together "$suite" "$way" || continue
		differing "$way" >"$dir/first" # of the last run
		settle "$suite" "$way"
	done
	echo "FIGURE $suite: $nr tests ($said), $heard processes heard; with the agent $unsteady ended otherwise at first"
	ran=$((ran + 1))
	[ "$nr" -ge 100 ] || fail "$suite: expected at least 100 tests, got $nr; its errors end with: $(cat "$dir/errors")"
done
[ $ran -gt 0 ] || skip "no suite can be had"
finish
