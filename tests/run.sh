#!/bin/bash
# SPDX-License-Identifier: MIT
# Run the tests: tests/run.sh BUILD [LAYER | LAYER/NAME]...   (default: every layer)
#
# A test is an executable: a cmocka binary in BUILD/unit, or a script in tests/LAYER that is called with BUILD from the
# top folder.  Exit 0: passed; 77: skipped, its last line says why; else: failed, and its output is shown.  The layers
# in ALONE measure live processes and run one at a time; the others share the processors.  LONG=1 runs tests/long too.
#
# Environment: JOBS (default: processors), TEST_SECONDS (limit of one test, default 600), SAN (as given to make).
set -u
cd "$(dirname "$0")/.." || exit 1
[ $# -ge 1 ] || { echo "usage: tests/run.sh BUILD [LAYER | LAYER/NAME]..." >&2; exit 2; }
B=$(cd "$1" && pwd) || exit 2
shift
export B LC_ALL=C.UTF-8
SHARED="unit lint fuzz" ALONE="golden live ${LONG:+long}"
# A second run beside the first, in the same folder, keeps its logs elsewhere.  (Tests do not inherit the lock.)
LOG=$B/test-log
exec 9>"$B/test-log.lock"
if ! flock -n 9; then
	LOG=$B/test-log.$$
	echo "tests/run.sh: another run is under way in $B, so this one's logs are in $LOG" >&2
fi
rm -rf "$LOG"
mkdir -p "$LOG"
export LOG

# When sampling interrupts take long (on a virtual machine they do), the kernel lowers the rate that it allows to everybody, for
# good, down to 1,000 samples a second.  Where we may, that is off while tests run.
kernel=/proc/sys/kernel
percent=$(cat $kernel/perf_cpu_time_max_percent 2>/dev/null)
if [ -w $kernel/perf_cpu_time_max_percent ] && [ "${percent:-0}" != 0 ]; then
	# in this order: without the limit the rate cannot be written
	echo 100000 2>/dev/null >$kernel/perf_event_max_sample_rate
	echo 0 2>/dev/null >$kernel/perf_cpu_time_max_percent
	trap 'echo "$percent" >$kernel/perf_cpu_time_max_percent' EXIT
fi

tests_of() {
	case $1 in
	unit) find "$B/unit" -maxdepth 1 -type f -executable 2>/dev/null | sort ;;
	*) find "tests/$1" -maxdepth 1 -name '*.sh' -type f -executable 2>/dev/null | sort ;;
	esac
}

run_one() {
	layer=$1 path=$2
	name=$layer/$(basename "$path" .sh)
	log=$LOG/${name//\//.}.log
	begin=$(date +%s%N)
	if [ "$layer" = unit ]; then
		timeout -k 10 "${TEST_SECONDS:-600}" "$path" >"$log" 2>&1 </dev/null
	else
		timeout -k 10 "${TEST_SECONDS:-600}" "$path" "$B" >"$log" 2>&1 </dev/null
	fi
	status=$?
	took=$(printf '%d.%01d s' $((($(date +%s%N) - begin) / 1000000000)) $((($(date +%s%N) - begin) / 100000000 % 10)))
	case $status in
	0) verdict=passed ;;
	77) verdict=skipped ;;
	124 | 137) verdict=failed; echo "stopped: it ran longer than ${TEST_SECONDS:-600} s (or was killed)" >>"$log" ;;
	*) verdict=failed ;;
	esac
	{
		case $verdict in
		passed) printf 'ok      %-44s %s\n' "$name" "$took" ;;
		skipped) printf 'SKIPPED %-44s %s\n' "$name" "$(tail -n 1 "$log")" ;;
		failed) printf 'FAILED  %-44s exit %d after %s\n' "$name" "$status" "$took"; tail -n 60 "$log" | sed 's/^/    | /' ;;
		esac
		# Figures that a test wants seen stand behind "FIGURE ".
		sed -n 's/^FIGURE /        /p' "$log"
	} >"$LOG/line.$$"
	cat "$LOG/line.$$" # one write: tests side by side do not mix their lines
	rm -f "$LOG/line.$$"
	echo "$verdict" >"$LOG/${name//\//.}.verdict"
}
export -f run_one

run_layer() { # LAYER JOBS PATH...
	layer=$1 jobs=$2
	shift 2
	[ $# -gt 0 ] || return 0
	printf '%s\0' "$@" | xargs -0 -n 1 -P "$jobs" bash -c 'run_one "$0" "$1"' "$layer" 9>&-
}

wanted=${*:-$SHARED $ALONE}
for w in $wanted; do
	layer=${w%%/*}
	jobs=1
	case " $SHARED " in *" $layer "*) jobs=${JOBS:-$(nproc)} ;; esac
	mapfile -t paths < <(tests_of "$layer")
	if [ "$w" != "$layer" ]; then
		name=${w#*/}
		mapfile -t paths < <(printf '%s\n' "${paths[@]}" | grep -E "/${name%.sh}(\.sh)?$")
	fi
	if [ "${#paths[@]}" -eq 0 ] || [ -z "${paths[0]}" ]; then
		[ $# -eq 0 ] && continue # a layer that has no test yet
		echo "tests/run.sh: no test in $w" >&2
		exit 2
	fi
	run_layer "$layer" "$jobs" "${paths[@]}"
done

count() { find "$LOG" -name '*.verdict' -exec cat {} + | grep -c "^$1$"; }
failed=$(count failed)
echo
echo "$(count passed) passed, $failed failed, $(count skipped) skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$LOG" = "$B/test-log" ] || rm -rf "$LOG"
