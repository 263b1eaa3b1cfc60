#!/bin/bash
# SPDX-License-Identifier: MIT
# perf reads what `tailor export --format jitdump` writes: perf inject --jit makes an ELF file of each function, with its name, its code
# and its lines.  perf looks for the file where a process mapped it, so one does.
set -u
B=$1
command -v perf >/dev/null || { echo "skipped, because perf is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$B/tailor" export --format jitdump -o "$dir/dump" tests/golden/v1.tlr || exit 1
cat >"$dir/map.py" <<'END'
import mmap, os, shutil, sys, time
path = f"{sys.argv[1]}/jit-{os.getpid()}.dump"
shutil.copy(f"{sys.argv[1]}/dump", path)
with open(path, "rb") as f:
    m = mmap.mmap(f.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
end = time.time() + 0.2
while time.time() < end:
    pass
END
timeout 60 perf record -q -k mono -e task-clock -o "$dir/perf.data" /usr/bin/python3 "$dir/map.py" "$dir" >"$dir/log" 2>&1 ||
	{ echo "skipped, because perf cannot record here: $(tail -n 1 "$dir/log")"; exit 77; }
timeout 60 perf inject --jit -i "$dir/perf.data" -o "$dir/jit.data" >"$dir/log" 2>&1 ||
	{ echo "perf inject --jit:"; cat "$dir/log"; exit 1; }
functions=$(for f in "$dir"/jitted-*.so; do nm "$f" 2>/dev/null; done | awk '{ print $3 }' | sort | tr '\n' ' ')
wanted="pipeline_1 pipeline_2 pipeline_3 pipeline_4 pipeline_5 pipeline_6 "
[ "$functions" = "$wanted" ] || { echo "perf inject --jit: expected the functions $wanted, got $functions"; exit 1; }
for f in "$dir"/jitted-*.so; do
	if nm "$f" | grep -q pipeline_3; then
		objdump -d "$f" | grep -q 'push  *%rbp' || { echo "pipeline_3: expected its code to begin with push %rbp"; exit 1; }
		lines=$(readelf --debug-dump=decodedline "$f" 2>/dev/null | grep -c 'q3.ll  *[0-9]')
		[ "$lines" -gt 20 ] || { echo "pipeline_3: expected more than 20 lines of q3.ll, got $lines"; exit 1; }
	fi
done
echo "FIGURE perf inject --jit made $(echo "$functions" | wc -w) functions of the exported jitdump"
