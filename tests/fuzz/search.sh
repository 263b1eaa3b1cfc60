#!/bin/bash
# SPDX-License-Identifier: MIT
# libFuzzer, with the address and undefined-behaviour sanitizers, looks for inputs that break what reads others' bytes.
# FUZZ_SECONDS: for each (what stands behind it: until it reaches nothing new; or 30).  FUZZ_TARGETS: others of tests/fuzz.
# FUZZ_JOBS: at a time (2).  FUZZ_VIEWS: of a trace, chosen by its bytes (3; 0: all).
# What it learns stays in BUILD/libfuzzer/corpus; an input that breaks something in BUILD/libfuzzer/found-*: it belongs into
# tests/fuzz/corpus.
# Long: searches for minutes; what it found is replayed in each check.
set -u
B=$1/libfuzzer
[ -x "$B/fuzz/fuzz_unwind" ] || { echo "skipped, because the targets were not built: clang with libFuzzer is not here"; exit 77; }
search() {
	name=${1%=*}
	seconds=${FUZZ_SECONDS:-30}
	[ "$name" = "$1" ] || seconds=${FUZZ_SECONDS:-${1#*=}}
	seeds=tests/fuzz/corpus/$name
	[ -d "$seeds" ] || seeds=tests/fuzz/corpus/unwind
	mkdir -p "$B/corpus/$name"
	ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1000:detect_leaks=1:${ASAN_OPTIONS:-} \
		UBSAN_OPTIONS=print_stacktrace=1 \
		"$B/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=120 -max_len=65536 -verbosity=1 \
		-rss_limit_mb=3000 -malloc_limit_mb=100000 -print_final_stats=1 -artifact_prefix="$B/found-$name-" \
		"$B/corpus/$name" "$seeds" >"$B/$name.log" 2>&1
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$B/$name.log")
	if [ $status = 0 ] && [ "${runs:-0}" -le 20 ]; then
		echo "skipped, because this machine gave only ${runs:-0} inputs to fuzz_$name in $seconds s" | tee -a "$B/undecided"
	elif [ $status = 0 ]; then
		kept=$(find "$B/corpus/$name" -type f | wc -l)
		echo "FIGURE fuzz_$name: $runs inputs in $seconds s, none broke it; $kept worth keeping"
	else
		echo "fuzz_$name: expected exit 0, got $status after ${runs:-0} inputs:"
		grep -vE '^#[0-9]+[[:space:]]+(NEW|REDUCE|pulse)' "$B/$name.log" | tail -n 40
		return 1
	fi
}
export B FUZZ_VIEWS=${FUZZ_VIEWS:-3}
export -f search
rm -f "$B/undecided"
# shellcheck disable=SC2086
printf '%s\n' ${FUZZ_TARGETS:-trace unwind cfi perf_data=10 perf_map=10 code=10 go=5 jitdump=5 question=5 store=10} |
	xargs -n 1 -P "${FUZZ_JOBS:-2}" bash -c 'search "$0"' || exit 1
[ ! -e "$B/undecided" ] || { tail -n 1 "$B/undecided"; exit 77; }
