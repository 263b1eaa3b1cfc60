# SPDX-License-Identifier: MIT
# How scripts wait, gather samples and decide claims, so that no verdict depends on how fast or how busy the machine is: the shell's side
# of tests/evidence.py.  A script ends with `finish`.
bad=0
undecided=
PATIENCE_S=${PATIENCE_S:-300} # for an event: a program that hangs is told from one that is slow
ENOUGH_S=${ENOUGH_S:-240}     # for samples

fail() { echo "$@"; bad=1; }
skip() { echo "skipped, because $*"; exit 77; }

# Of one part of a test: this machine cannot decide it.  The rest goes on.
undecided() {
	echo "undecided: $*"
	undecided="${undecided:+$undecided; }$*"
}

# The end of a script: failed, or passed, or skipped where a part is undecided.
finish() {
	[ "$bad" = 0 ] || exit 1
	[ -z "$undecided" ] || skip "$undecided"
	exit 0
}

# wait_for CONDITION...: looks until it is true.
wait_for() {
	local begin=$SECONDS
	until "$@"; do
		[ $((SECONDS - begin)) -lt "$PATIENCE_S" ] || { fail "did not happen within $PATIENCE_S s: $*"; return 1; }
		sleep 0.05
	done
}

# judge COMMAND...: its exit status is the verdict on a part of the test: 0, 77 (undecided, its last line says why), or failed.
judge() {
	local out status
	out=$("$@")
	status=$?
	[ -z "$out" ] || printf '%s\n' "$out"
	case $status in
	0) ;;
	77) undecided "$(printf '%s\n' "$out" | tail -n 1 | sed 's/^skipped, because //')" ;;
	*) bad=1 ;;
	esac
	return $status
}

# gather WANTED RECORD...: calls RECORD... SECONDS, with 1, 2, 4, ... seconds, until it leaves WANTED samples or more in $n.  Returns 1
# where the machine does not give them (undecided), or RECORD fails (it has said why).
gather() {
	local wanted=$1 seconds=1 begin=$SECONDS
	shift
	while :; do
		n=0
		"$@" $seconds || return 1
		[ "${n:-0}" -ge "$wanted" ] && return 0
		[ $((SECONDS - begin + 2 * seconds)) -le "$ENOUGH_S" ] || break
		seconds=$((2 * seconds))
	done
	undecided "this machine gave only ${n:-0} samples in $seconds s, where $wanted are needed ($*)"
	return 1
}

# decide [--sure | --nearly | --wrong WRONG] CLAIM BLOCK...: calls BLOCK... NUMBER until its exit statuses decide the claim: 0 agrees,
# 1 contradicts, 77 is no evidence, any other fails at once.  tests/evidence.py has the rule, what a block must be, and when one or two are
# enough (SURE, NEARLY).
decide() {
	local claim outcomes='' nr=0 begin=$SECONDS said=more numbers=()
	case $1 in
	--sure) numbers=(0.9 0.001) ;;
	--nearly) numbers=(0.98 0.097) ;;
	--wrong) numbers=(0.9 "$2"); shift ;;
	esac
	[ ${#numbers[@]} = 0 ] || shift
	claim=$1
	shift
	while :; do
		"$@" $nr
		case $? in
		0) outcomes+=1 ;;
		1) outcomes+=0 ;;
		77) ;;
		*) fail "no block of evidence ($*): $claim"; return 1 ;;
		esac
		nr=$((nr + 1))
		said=$(/usr/bin/python3 tests/evidence.py "$outcomes" "${numbers[@]}")
		case $said in
		holds) echo "holds, blocks that agree (1) and do not (0): $outcomes: $claim"; return 0 ;;
		refuted) fail "refuted, blocks that agree (1) and do not (0): $outcomes: $claim"; return 1 ;;
		esac
		if [ $((SECONDS - begin)) -gt "$ENOUGH_S" ]; then
			undecided "this machine gave only ${#outcomes} blocks of evidence in $((SECONDS - begin)) s ($outcomes): $claim"
			return 1
		fi
	done
}

# allowed_rate WANTED: samples per second that the kernel allows here, at most as many as wanted.
allowed_rate() {
	local most
	most=$(cat /proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null || echo "$1")
	echo $(($1 < most ? $1 : most))
}

# The event that is to be had everywhere, by everybody, without a notice: a clock; of user code only where the kernel's is not to be had.
plain_event() {
	if [ "$(id -u)" = 0 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ]; then
		echo task-clock
	else
		echo task-clock:u
	fi
}
