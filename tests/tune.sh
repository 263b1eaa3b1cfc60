#!/bin/sh
# SPDX-License-Identifier: MIT
# Let the kernel allow 100,000 samples a second to everybody on this machine, until it restarts; prints what it changed.  When sampling
# interrupts take long (on a virtual machine they do), the kernel lowers the limit by itself and never raises it again.  No test needs
# this: with fewer samples a second, tests take longer.
set -eu
kernel=/proc/sys/kernel
tune() { # SETTING VALUE
	before=$(cat "$kernel/$1")
	[ "$before" = "$2" ] && { echo "kernel.$1 = $2 already"; return; }
	if ! { echo "$2" >"$kernel/$1"; } 2>/dev/null; then
		echo "kernel.$1 = $before: only root may change it" >&2
		exit 1
	fi
	echo "kernel.$1 = $(cat "$kernel/$1"), was $before"
}
# The share of a processor that sampling may take before the kernel lowers the limit.  (0 would be no limit at all: then sampling can
# keep programs from making progress, and the other limit cannot be written.)
tune perf_cpu_time_max_percent 50
tune perf_event_max_sample_rate 100000
