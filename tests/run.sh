#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the tests: tests/run.sh BUILD [LAYER | LAYER/NAME]...   (default: every layer; NAME may be a part of one)
#
# A test is an executable: a cmocka binary in BUILD/unit, or a script in tests/LAYER that is called with BUILD from the top folder.
# Exit 0: passed; 77: skipped, its last line says why; else: failed, and its output is shown.  Tests share the processors; one that
# needs the machine to itself has a line "# Alone: why" and runs after the others.  Of layers, tests with a line "# Long: why" are left
# to LONG=1, which runs tests/long too; QUICK=1 leaves those with a line "# Not quick: why", too.  What is named runs.  Short tests come
# first, in the order of their layers, and then those of tests/longest, so that none of these is left at the end.  BUILD/check-times has
# each test's seconds, by the clock and of processor time.
#
# Environment: JOBS (at a time; default: three more than there are processors, since many tests wait), TEST_SECONDS (limit of one test,
# default 3600: for what hangs, not for what is slow), SAN (as given to make).
set -u
cd "$(dirname "$0")/.." || exit 1
[ $# -ge 1 ] || { echo "usage: tests/run.sh BUILD [LAYER | LAYER/NAME]..." >&2; exit 2; }
B=$(cd "$1" && pwd) || exit 2
shift
export B LC_ALL=C.UTF-8
export TAILOR_SOURCE_TEXT=0 # of hundreds of recordings, whose own tests set it back
export PATH=$B/tools:$PATH # llvm-config, clang and others of one version (dist/configure.sh)
LOG=$B/test-log
exec 9>"$B/test-log.lock"
if ! flock -n 9; then
	# A second run beside the first, in the same folder, keeps its logs elsewhere.  (Tests do not inherit the lock.)
	LOG=$B/test-log.$$
	echo "tests/run.sh: another run is under way in $B, so this one's logs are in $LOG" >&2
fi
rm -rf "$LOG"
mkdir -p "$LOG"
export LOG

tests_of() { # LAYER
	find "tests/$1" -maxdepth 1 \( -name '*.sh' -o -name 'test_*.py' \) -type f -executable | sort
	[ "$1" != unit ] || find "$B/unit" -maxdepth 1 -type f -executable 2>/dev/null | sort
}

run_one() { # LAYER/PATH
	layer=${1%%/*} path=${1#*/}
	name=$(basename "$path")
	name=$layer/${name%.*}
	log=$LOG/${name//\//.}.log
	arguments=("$B")
	[ "$layer" != unit ] || arguments=() # cmocka's binaries take none
	TIMEFORMAT='%1R %1U %1S'
	{ time timeout -k 10 "${TEST_SECONDS:-3600}" "$path" "${arguments[@]}" >"$log" 2>&1 </dev/null; } 2>"$LOG/time.$$"
	status=$?
	read -r took user system < <(tail -n 1 "$LOG/time.$$") # (before it: what a shell says of who was killed)
	rm -f "$LOG/time.$$"
	echo "$name $took $user $system" >"${log%.log}.time"
	case $status in
	0) verdict=passed ;;
	77) verdict=skipped ;;
	124 | 137) verdict=failed; echo "stopped: it ran longer than ${TEST_SECONDS:-3600} s (or was killed)" >>"$log" ;;
	*) verdict=failed ;;
	esac
	{
		case $verdict in
		passed) printf 'ok      %-44s %s s\n' "$name" "$took" ;;
		skipped) printf 'SKIPPED %-44s %s\n' "$name" "$(tail -n 1 "$log")" ;;
		failed) printf 'FAILED  %-44s exit %d after %s s\n' "$name" "$status" "$took"; tail -n 60 "$log" | sed 's/^/    | /' ;;
		esac
		# Figures that a test wants seen stand behind "FIGURE ".
		sed -n 's/^FIGURE /        /p' "$log"
	} >"$LOG/line.$$"
	cat "$LOG/line.$$" # one write: tests side by side do not mix their lines
	rm -f "$LOG/line.$$"
	echo "$verdict" >"$LOG/${name//\//.}.verdict"
}
export -f run_one

# LAYER/PATH of each test that is wanted, in four groups: those that say soonest what is wrong, the long ones, the others, and those that
# run alone
soon=() long=() others=() alone=() left=0
left_out="^# Long: "
[ -z "${QUICK:-}" ] || left_out="^# (Long|Not quick): "
declare -A place=()
nr=0
while read -r name; do place[$name]=$((nr++)); done < <(grep -v '^#' tests/longest)
for w in ${*:-unit lint fuzz golden page live ${LONG:+long}}; do
	layer=${w%%/*}
	mapfile -t paths < <(tests_of "$layer" 2>/dev/null)
	if [ "$w" != "$layer" ]; then
		part=${w#*/} part=${part%.sh}
		mapfile -t exact < <(printf '%s\n' "${paths[@]}" | grep -E "/$part(\.sh|\.py)?$")
		[ -n "${exact[*]}" ] || mapfile -t exact < <(printf '%s\n' "${paths[@]}" | grep -E "/[^/]*$part[^/]*$")
		paths=("${exact[@]}")
	fi
	[ -n "${paths[*]}" ] || { echo "tests/run.sh: no test in $w" >&2; exit 2; }
	for path in "${paths[@]}"; do
		if [ "$w" = "$layer" ] && [ -z "${LONG:-}" ] && [[ $path = *.sh ]] && grep -qE "$left_out" "$path"; then
			left=$((left + 1))
			continue
		fi
		if [ "$layer" = long ] || grep -qs '^# Alone: ' "$path"; then
			alone+=("$layer/$path")
			continue
		fi
		name=${path##*/}
		nr=${place[$layer/${name%.*}]:-}
		if [ "$nr" ]; then
			long[nr]=$layer/$path
		elif [ "$layer" = unit ] || [ "$layer" = lint ]; then
			soon+=("$layer/$path")
		else
			others+=("$layer/$path")
		fi
	done
done
run_group() { # JOBS LAYER/PATH...
	jobs=$1
	shift
	[ $# = 0 ] || printf '%s\0' "$@" | xargs -0 -n 1 -P "$jobs" bash -c 'run_one "$0"' 9>&-
}
begin_s=$SECONDS
run_group "${JOBS:-$(($(nproc) + 3))}" "${soon[@]}" "${long[@]}" "${others[@]}"
run_group 1 "${alone[@]}"
took_s=$((SECONDS - begin_s))

# ------------------------------------------------------------------------------------------- what came of it, and where
count() { find "$LOG" -name '*.verdict' -exec cat {} + | grep -c "^$1$"; }
kernel() { cat "/proc/sys/kernel/$1" 2>/dev/null || echo unknown; }
says_why() { tail -n 1 "$1" | grep -q '^skipped, because .*this machine gave only'; }
unable=()
for log in "$LOG"/*.log; do ! says_why "$log" || unable+=("$(basename "$log" .log)"); done
hardware=without
! ls /sys/bus/event_source/devices/cpu*/type >/dev/null 2>&1 || hardware=with
failed=$(count failed)
find "$LOG" -name '*.time' -exec cat {} + | awk '{ printf "%-50s %8.1f %8.1f\n", $1, $2, $3 + $4 }' | sort -k 3 -rn >"$LOG/times"
[ "$LOG" != "$B/test-log" ] || cp "$LOG/times" "$B/check-times"
echo
[ "$left" = 0 ] || echo "left to a longer check: $left tests (make check-long runs all of them)"
[ "${#unable[@]}" = 0 ] || echo "skipped, because this machine gave too few samples (${#unable[@]}): ${unable[*]}"
echo "processor: $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(nproc) of $(grep -c ^processor /proc/cpuinfo)" \
	"for the tests, $hardware hardware counters"
echo "kernel:    Linux $(uname -r), as $(id -un), perf_event_paranoid $(kernel perf_event_paranoid)," \
	"at most $(kernel perf_event_max_sample_rate) samples a second"
echo "time:      $took_s s, $(awk '{ n += $3 } END { printf "%d", n }' "$LOG/times") s of processor time"
echo "$(count passed) passed, $failed failed, $(count skipped) skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$LOG" = "$B/test-log" ] || rm -rf "$LOG"
