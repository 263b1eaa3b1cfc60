#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples decoded from TRACE.md alone, in Python, are those that `tailor dump` prints: every column, register and stack byte.
. tests/live/begin.bash
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || { echo "skipped, because python3-msgpack is not installed"; exit 77; }
record() { # OPTION... REPEAT
	timeout 300 "$B/tailor" run -q --no-compress -o "$dir/t.tlr" "${@:1:$#-1}" -- \
		"$B/engine" --query q3 --scale 0.02 --threads 2 --repeat $((2 * ${!#})) >/dev/null || { fail "$*: exit $?"; return 1; }
	timeout 300 "$B/tailor" dump --json --samples --full "$dir/t.tlr" >"$dir/dump" || { fail "tailor dump, $*: exit $?"; return 1; }
	n=$(grep '^{"sample"' "$dir/dump" | tee "$dir/ours" | wc -l)
}
for options in "--stack 1000 --registers all" "--stack 0" "--stack 0 --frame-pointers"; do
	gather 100 record $options || continue
	timeout 600 /usr/bin/python3 - "$dir/t.tlr" "$dir/ours" <<'PYTHON' || bad=1
import collections, json, struct, sys
import msgpack

M = (1 << 64) - 1
NAMES = {1: "time_ns", 2: "pid", 3: "tid", 4: "cpu", 5: "ip", 6: "address", 7: "weight", 8: "mode", 9: "registers_abi",
         10: "stack_bytes"}
MEMORY = {14: "data_source", 15: "latency"}


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        v = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return v

    def difference(self):
        z = self.number()
        return (z >> 1) ^ -(z & 1)

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]


def deltas(b, nr):
    out, v = [], 0
    for _ in range(nr):
        v = v + b.difference() & M
        out.append(v)
    return out


def decode(nr, columns):
    got, index, used = {}, None, collections.Counter()
    for column, encoding, data in columns:
        used[encoding] += 1
        b = Bytes(data)
        if column == 11:
            stack = b
        elif column == 13:
            got[13] = deltas(b, sum(got[12]))
        elif column == 128 and encoding == 8:
            v, got[128] = 0, []
            for _ in range(nr):
                got[128].append([])
                for _ in range(b.number()):
                    v = v + b.difference() & M
                    got[128][-1].append(v)
        elif encoding == 2:
            got[column] = deltas(b, nr)
        elif encoding == 3:
            got[column] = [b.number()] * nr
        elif encoding == 4:
            table = deltas(b, b.number())
            index = [b.number() for _ in range(nr)]
            got[column] = [table[i] for i in index]
        elif encoding == 5:
            last, v, out = {}, 0, []
            for i in index:
                last[i] = v = last.get(i, v) + b.difference() & M
                out.append(v)
            got[column] = out
        elif encoding == 6:
            other = got[b.number()]
            got[column] = [v + b.difference() & M for v in other]
        else:
            sys.exit(f"column {column} has encoding {encoding}")
    stacks = None
    if 11 in [c[0] for c in columns]:
        bytes_of_runs = stack.number()
        runs, new = Bytes(stack.take(bytes_of_runs)), stack
        memory, stacks = collections.defaultdict(int), []
        for i in range(nr):
            n = got.get(10, [0] * nr)[i]
            first, w, words = got[64 + 7][i] // 8, 0, n // 8
            key = got[3][i] % 256
            while w < words:
                w += runs.number()
                for _ in range(runs.number()):
                    memory[key, (first + w) % 8192] = struct.unpack("<Q", new.take(8))[0]
                    w += 1
            stacks.append(b"".join(struct.pack("<Q", memory[key, (first + k) % 8192]) for k in range(words)) + new.take(n % 8))
    return got, stacks, used


ours = (json.loads(line) for line in open(sys.argv[2]))
data = open(sys.argv[1], "rb").read()
at = samples = 0
encodings = collections.Counter()
while at < len(data):
    magic, kind, flags, stored, plain, number, _, crc = struct.unpack_from("<4sHHIIQII", data, at)
    unpacker = msgpack.Unpacker(raw=False, max_buffer_size=1 << 27, unicode_errors="surrogateescape")
    if kind == 2:
        unpacker.feed(data[at + 32:at + 32 + stored])
    for record in unpacker:
        nr = record[5]
        got, stacks, used = decode(nr, record[6])
        encodings += used
        chain = 0
        for i in range(nr):
            o = next(ours)
            want = {"sample": i, "event": record[4], "registers": {str(c - 64): got[c][i] for c in got if 64 <= c < 128}}
            for c, name in NAMES.items():
                want[name] = got[c][i] if c in got else 0
            want.update({name: got[c][i] for c, name in MEMORY.items() if c in got})
            want["mode"] = ["user", "kernel", "other"][want["mode"]]
            if 12 in got:
                want["chain"] = got[13][chain:chain + got[12][i]]
                chain += got[12][i]
            if 128 in got:
                want["kernel_chain"] = got[128][i]
            if stacks:
                want["stack"] = stacks[i].hex()
            if want != o:
                sys.exit(f"sample {samples}: TRACE.md says {want}, tailor dump {o}")
            samples += 1
    at += 32 + stored
if next(ours, None):
    sys.exit(f"expected as many samples as tailor dump has; TRACE.md yields {samples}")
print(f"FIGURE {samples} samples are what TRACE.md says; encodings used: {sorted(encodings)}")
PYTHON
done
finish
