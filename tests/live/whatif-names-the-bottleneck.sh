#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs with one bottleneck, each of its own kind: `tailor whatif` names it.  Threads are real-time ones, so that a busy
# machine is none of it.
. tests/live/begin.bash
[ "$(id -u)" = 0 ] || skip "context switches and wake-ups of all kinds are root's to record"
chrt -r 1 true 2>/dev/null || skip "no real-time threads can be made here"
[ "$(nproc)" -ge 2 ] || skip "there is one processor"
[ -r /sys/kernel/tracing/events/sched/sched_waking/id ] || [ -r /sys/kernel/debug/tracing/events/sched/sched_waking/id ] ||
	skip "the kernel has no tracepoints here"
judge /usr/bin/python3 tests/live/whatif_names_the_bottleneck.py "$B" "$dir"
finish
