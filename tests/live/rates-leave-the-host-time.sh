#!/bin/bash
# SPDX-License-Identifier: MIT
# However short the periods that are asked for: the program makes progress.  By rings and by signals it takes at most ten times the
# processor time that it takes alone (a sample longer than its period takes all of it), and the trace says if its rate was lowered.
. tests/live/begin.bash
host=("$B/hosts/busy" 203)
limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
asked=$((1000000000 / (limit < 100000 ? limit : 100000))) # ns: the kernel sets no timer shorter than 10,000

seconds_of() { # COMMAND...: processor time of its children, in ms
	/usr/bin/python3 -c '
import resource, subprocess, sys
if subprocess.run(["timeout", "100", *sys.argv[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
    sys.exit("no exit status 0")
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (r.ru_utime + r.ru_stime)))' "$@"
}

alone=$(seconds_of "${host[@]}") || fail "${host[*]}: expected exit status 0"
for sampler in auto signal; do
	took=$(seconds_of "$B/tailor" run -q --sampler $sampler -e task-clock:u -r 1000000 -o "$dir/t.tlr" -- "${host[@]}") ||
		{ fail "$sampler: expected that the program ends within 100 s, alone it takes $alone ms"; continue; }
	"$B/tailor" report --json "$dir/t.tlr" >"$dir/json"
	period=$(/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["events"][0]["period"])' <"$dir/json")
	lowered=$(grep -c 'leaves the program too little time' "$dir/json")
	echo "FIGURE $sampler: $took ms with the recorder, $alone alone; a sample each $period ns"
	[ "$took" -le $((10 * alone + 1000)) ] || fail "$sampler: expected at most 10 times $alone ms, got $took"
	[ "$period" -le $((asked + asked / 10)) ] || [ "$lowered" = 1 ] ||
		fail "$sampler: expected a notice, because each $asked ns was asked for, and samples come each $period ns"
done
finish
