#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread that is woken waits for a processor until it runs: that is no waiting, and as long as the kernel itself says (schedstat).
. tests/live/begin.bash
others=()
[ "$(id -u)" = 0 ] || skip "tracepoints are root's"
[ -r /sys/kernel/tracing/events/sched/sched_waking/id ] || [ -r /sys/kernel/debug/tracing/events/sched/sched_waking/id ] ||
	skip "the kernel has no tracepoints here"
[ "$(stat -Lc %i /proc/self/ns/pid)" = $((0xEFFFFFFC)) ] || skip "tracepoints have the numbers of another PID namespace"
for _ in $(seq "$(nproc)"); do # so that it has to wait
	"$B/hosts/busy" 100000000 >/dev/null &
	others+=($!)
done
trap 'kill -9 "${others[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
read -r queued_ns times < <("$B/tailor" run -q -e task-clock,context-switches -o "$dir/t.tlr" -- "$B/hosts/queued" 100)
[ "${times:-0}" -gt 0 ] || skip "the kernel has no schedstat of threads"
"$B/tailor" report --view offcpu --json "$dir/t.tlr" >"$dir/json" || fail "expected a report"
judge /usr/bin/python3 - "$dir/json" "$queued_ns" <<'END'
import json, sys
kernel = int(sys.argv[2])
thread = max(json.load(open(sys.argv[1]))["tables"]["thread"], key=lambda r: r["waits"])
queued = thread["run_queue_ns"] + thread["preempted_ns"]
print(f"FIGURE {queued / 1e6:.1f} ms of waiting for a processor (the kernel: {kernel / 1e6:.1f}), {thread['waiting_ns'] / 1e6:.1f} ms else")
# what it waited before the counters were there, and the last time, may be missing; the scheduler decides how much is behind a preemption
if not 0.6 * kernel - 5e6 <= queued <= 1.25 * kernel or thread["run_queue_ns"] < kernel / 20 or thread["wakeups"] < 50:
    print(f"expected about {kernel} ns of waiting for a processor, got {thread}")
    sys.exit(1)
END
finish
