#!/bin/bash
# SPDX-License-Identifier: MIT
# Mutants with right checksums of traces that were recorded here (an engine, Node, Java, call stacks, attach): each through the default
# report, three views and an export, in process, under the address and undefined-behaviour sanitizers.  MUTANTS: of each trace.
set -u
B=$(cd "$1" && pwd)
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || { echo "skipped, because python3-msgpack is not installed"; exit 77; }
dir=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
make -s -j"$(nproc)" SAN=address,undefined B="$B/san-address" "$B/san-address/fuzz/fuzz_trace" >"$dir/log" 2>&1 ||
	{ echo "make SAN=address,undefined:"; tail -n 20 "$dir/log"; exit 1; }
mkdir "$dir/bases"
run() { # NAME OPTION... -- COMMAND...
	local name=$1
	shift
	timeout 300 "$B/tailor" run -q --no-compress -r 1000 -o "$dir/$name.tlr" "$@" >"$dir/out" 2>&1
	[ -s "$dir/$name.tlr" ] || { echo "$name: no trace: $(tail -n 3 "$dir/out")"; exit 1; }
}
run engine --stack 0 -- "$B/engine" --query q3 --scale 0.01 --repeat 20
run stacks --stack 1024 -r 200 -- "$B/engine" --query q6 --scale 0.01 --repeat 20 --tag none
if command -v node >/dev/null; then
	run node --stack 256 -- node -e 'function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
		let s = 0; for (let i = 0; i < 300; i++) s += hot(1e5); console.log(s)'
fi
if command -v java >/dev/null; then
	cat >"$dir/Hot.java" <<'JAVA'
class Hot {
	static long hot(int n) { long s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }
	public static void main(String[] a) { long s = 0; for (int i = 0; i < 3000; i++) s += hot(100000); System.out.println(s); }
}
JAVA
	run java --stack 256 -- java -XX:+UseSerialGC "$dir/Hot.java"
fi
"$B/engine" --query q3 --scale 0.01 --seconds 60 >/dev/null 2>&1 &
pids+=($!)
timeout 300 "$B/tailor" attach -q --no-compress -r 200 --stack 1024 --duration 1 -o "$dir/attach.tlr" $! 2>"$dir/out"
[ -s "$dir/attach.tlr" ] || { echo "attach: no trace: $(cat "$dir/out")"; exit 1; }

# Files of images are most of a trace; some records of each chunk are enough, and read in less time.
PYTHONPATH=tests /usr/bin/python3 - "$dir" <<'END' || exit 1
import glob, struct, sys
import msgpack, trace_file

LARGE = 16384  # a record that is left out, unless it holds samples
for path in glob.glob(f"{sys.argv[1]}/*.tlr"):
    data, at, thin = open(path, "rb").read(), 0, trace_file.Trace(begin=None)
    room = {trace_file.RECORDS: 60000, trace_file.SAMPLES: 100000, trace_file.FILES: 40000, trace_file.END: 1000}
    while len(data) - at >= 32:
        kind, stored = struct.unpack_from("<4xHxxI", data, at)
        body, kept, before = data[at + 32 : at + 32 + stored], [], 0
        records = msgpack.Unpacker(raw=True, strict_map_key=False, max_buffer_size=1 << 30)
        records.feed(body)
        for _ in records:
            record, before = body[before : records.tell()], records.tell()
            if (len(record) < LARGE or kind == trace_file.SAMPLES) and len(record) <= room.get(kind, 0):
                room[kind] -= len(record)
                kept.append(record)
        if kept:
            thin.add(kind, b"".join(kept), plain=True)
        at += 32 + stored
    name = path.split("/")[-1][:-4]
    size = sum(map(len, thin.parts))
    open(f"{sys.argv[1]}/bases/{name}", "wb").write(b"".join(thin.parts))
    print(f"{name}: {size} of {len(data)} bytes")
END
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=1000:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
FUZZ_VIEWS=3 nice "$B/san-address/fuzz/fuzz_trace" "$dir/bases" "${MUTANTS:-4000}" >"$dir/log" 2>&1
status=$?
if [ $status != 0 ] || grep -q 'runtime error' "$dir/log"; then
	echo "mutants of traces: expected exit 0 and no finding, got $status:"
	tail -n 60 "$dir/log"
	exit 1
fi
echo "FIGURE mutants of traces: $(tail -n 1 "$dir/log")"
