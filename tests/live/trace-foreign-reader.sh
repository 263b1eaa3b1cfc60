#!/bin/bash
# SPDX-License-Identifier: MIT
# A msgpack reader that knows nothing of us lists all records of a trace, and finds what `tailor dump` finds.
. tests/live/begin.bash
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || { echo "skipped, because python3-msgpack is not installed"; exit 77; }
record() { # SECONDS
	timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/engine" --query q6 --scale 0.02 --repeat $((100 * $1)) >/dev/null ||
		{ fail "q6: exit $?"; return 1; }
	"$B/tailor" dump --samples --json "$dir/t.tlr" >"$dir/dump" 2>"$dir/err" && [ ! -s "$dir/err" ] ||
		{ fail "q6: expected a trace that can be read to its end: $(head -n 3 "$dir/err")"; return 1; }
	n=$(grep -c '^{"sample"' "$dir/dump")
}
gather 100 record || finish
"$B/tailor" dump "$dir/t.tlr" | awk '{ n[$3]++ } END { for (k in n) print k, n[k] }' | sort >"$dir/ours"
/usr/bin/python3 - "$dir/t.tlr" >"$dir/theirs" <<'PYTHON' || exit 1
import collections, ctypes, re, struct, sys
import msgpack

# The names of the records, from the headers that specify them.
names = {}
for header in ("jitreg/jitreg.h", "jitreg/trace/trace.h"):
    for name, number in re.findall(r"X\((\w+), \w+, (\d+)\)", open(header).read()):
        names[int(number)] = name
zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


data = open(sys.argv[1], "rb").read()
at = sequence = samples = 0
count, last = collections.Counter(), None
while at < len(data):
    magic, kind, flags, stored, plain, number, _, crc = struct.unpack_from("<4sHHIIQII", data, at)
    assert magic == b"TLRC" and number == sequence, (at, magic, number)
    body = data[at + 32:at + 32 + stored]
    if stored < 20000:  # the checksum in plain Python is slow
        assert crc32c(data[at:at + 28] + body) == crc, f"the checksum of chunk {number} is not its CRC-32C"
    if flags & 1:
        out = ctypes.create_string_buffer(plain)
        assert zstd.ZSTD_decompress(out, plain, body, stored) == plain
        body = out.raw
    unpacker = msgpack.Unpacker(raw=False, max_buffer_size=1 << 27, unicode_errors="surrogateescape")
    unpacker.feed(body)
    for record in unpacker:
        count[names[record[0]]] += 1
        last = record
        if names[record[0]] == "SAMPLES":
            samples += record[5]
    at += 32 + stored
    sequence += 1
assert names[last[0]] == "END" and last[5] == samples, (last, samples)
for name, n in sorted(count.items()):
    print(name, n)
PYTHON
diff "$dir/ours" "$dir/theirs" || { echo "tailor dump (<) and the foreign reader (>) differ"; exit 1; }
records=$(awk '{ n += $2 } END { print n }' "$dir/ours")
echo "FIGURE a foreign msgpack reader and tailor dump agree on $records records of $(wc -l <"$dir/ours") kinds"
