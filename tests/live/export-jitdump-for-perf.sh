#!/bin/bash
# SPDX-License-Identifier: MIT
# perf reads what `tailor export --format jitdump` writes: perf inject --jit makes an ELF file of each function, with its name, its code
# and its lines.  perf looks for the file where a process mapped it, so one does.
. tests/live/begin.bash
command -v perf >/dev/null || skip "perf is not installed"
"$B/tailor" export --overwrite --format jitdump -o "$dir/dump" tests/golden/v1.tlr || exit 1
cat >"$dir/map.py" <<'END'
import mmap, os, shutil, sys
path = f"{sys.argv[1]}/jit-{os.getpid()}.dump"
shutil.copy(f"{sys.argv[1]}/dump", path)
with open(path, "rb") as f:
    m = mmap.mmap(f.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
END
# (what is wanted of it is that mapping, so that a sample every 10 ms is plenty)
timeout 300 perf record -q -k mono -e "$(plain_event)" -c 10000000 -o "$dir/perf.data" /usr/bin/python3 "$dir/map.py" "$dir" \
	>"$dir/log" 2>&1 || skip "perf cannot record here: $(tail -n 1 "$dir/log")"
timeout 300 perf inject --jit -i "$dir/perf.data" -o "$dir/jit.data" >"$dir/log" 2>&1 ||
	{ echo "perf inject --jit:"; cat "$dir/log"; exit 1; }
functions=$(for f in "$dir"/jitted-*.so; do nm "$f" 2>/dev/null; done | awk '{ print $3 }' | sort | tr '\n' ' ')
wanted="pipeline_1 pipeline_2 pipeline_3 pipeline_4 pipeline_5 pipeline_6 "
[ "$functions" = "$wanted" ] || { fail "perf inject --jit: expected the functions $wanted, got $functions"; finish; }
for f in "$dir"/jitted-*.so; do
	if nm "$f" | grep -q pipeline_3; then
		objdump -d "$f" | grep -q 'push  *%rbp' || fail "pipeline_3: expected its code to begin with push %rbp"
		lines=$(readelf --debug-dump=decodedline "$f" 2>/dev/null | grep -c 'q3.ll  *[0-9]')
		[ "$lines" -gt 20 ] || fail "pipeline_3: expected more than 20 lines of q3.ll, got $lines"
	fi
done
echo "FIGURE perf inject --jit made $(echo "$functions" | wc -w) functions of the exported jitdump"
finish
