#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor dump --json` says what `tailor dump` says: every line is JSON, as many records, chunks and samples.
. tests/live/begin.bash
record() { # SECONDS
	timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/engine" --query q6 --scale 0.02 --repeat $((100 * $1)) >/dev/null &&
		timeout 300 "$B/tailor" dump --json --samples --chunks "$dir/t.tlr" >"$dir/json" || { fail "q6: exit $?"; return 1; }
	n=$(grep -c '^{"sample"' "$dir/json")
}
gather 100 record || finish
timeout 300 "$B/tailor" dump --samples --chunks "$dir/t.tlr" >"$dir/text" || exit 1
/usr/bin/python3 - "$dir" "$(stat -c %s "$dir/t.tlr")" <<'PYTHON' || exit 1
import collections, json, re, sys
names, chunks, times, end = collections.Counter(), 0, [], 0
ours = collections.Counter()
for line in open(f"{sys.argv[1]}/json"):
    o = json.loads(line)
    if "record" in o:
        names[o["record"]] += 1
        last = o
    elif "chunk" in o:
        if o["file_offset"] != end:
            sys.exit(f"expected chunk {o['chunk']} at byte {end}: {o}")
        end += 32 + o["stored_bytes"]
        chunks += 1
    else:
        times.append(o["time_ns"])
text_chunks, text_times = 0, []
for line in open(f"{sys.argv[1]}/text", errors="replace"):
    if line.startswith("# chunk"):
        text_chunks += 1
    elif line.startswith("\t"):
        text_times.append(int(line.split()[0]))
    else:
        ours[line.split()[2]] += 1
if ours != names or chunks != text_chunks or times != text_times:
    sys.exit(f"text and JSON differ: {ours} {names}, {text_chunks} {chunks} chunks, {len(text_times)} {len(times)} samples")
if end != int(sys.argv[2]) or last["record"] != "END" or last["fields"]["samples"] != len(times):
    sys.exit(f"expected chunks to the end of the file ({sys.argv[2]} bytes) and {len(times)} samples, got {end} and {last}")
print(f"FIGURE dump: text and JSON agree on {sum(names.values())} records, {len(times)} samples in {chunks} chunks")
PYTHON
