# SPDX-License-Identifier: MIT
# Traces as any program can write them, from TRACE.md alone: what tests feed to the analyzer that no recorder would write.
import ctypes, re, struct
import msgpack

RECORDS, SAMPLES, FILES, END = 1, 2, 3, 4

# Records by their names, from the headers that specify them.
ID = {}
for header in ("jitreg/jitreg.h", "jitreg/trace/trace.h"):
    ID.update((name, int(number)) for name, number in re.findall(r"X\((\w+), \w+, (\d+)\)", open(header).read()))

_zstd = ctypes.CDLL("libzstd.so.1")
_zstd.ZSTD_compress.restype = _zstd.ZSTD_compressBound.restype = ctypes.c_size_t
_zstd.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
_zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]

_crc = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    _crc.append(byte)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ _crc[(crc ^ byte) & 255]
    return crc ^ 0xffffffff


def compress(data):
    room = ctypes.create_string_buffer(_zstd.ZSTD_compressBound(len(data)))
    size = _zstd.ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:size]


def leb(number):
    out = bytearray()
    while True:
        out.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(out)


def deltas(numbers):
    out, before = bytearray(), 0
    for number in numbers:
        d = number - before
        out += leb((d << 1 ^ d >> 63) & (1 << 64) - 1)
        before = number
    return bytes(out)


def record(name, pid, *fields, time_ns=1000, tid=None):
    return msgpack.packb([ID[name], time_ns, pid, pid if tid is None else tid, *fields], use_bin_type=True)


# columns: (number, encoding, bytes)
def samples(nr, columns, event=0):
    return record("SAMPLES", 0, event, nr, [list(c) for c in columns])


HEADER = (record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]]) +
          record("EVENT", 0, 0, "task-clock", "ns", 1, 1, 100000, 0, 0, 0, 0, 0, "cpu", 0))


SAMPLES_MAX = 60000  # of a record


class Trace:
    def __init__(self, begin=HEADER):
        self.parts, self.sequence = [], 0
        if begin:
            self.add(RECORDS, begin)

    # A body of records; again: so many chunks of it.
    def add(self, kind, body, again=1, plain=False):
        stored = body if plain else compress(body)
        for _ in range(again):
            head = struct.pack("<IHHIIQI", 0x43524c54, kind, 0 if plain else 1, len(stored), len(body), self.sequence, 0)
            self.parts.append(head + struct.pack("<I", crc32c(head + stored)) + stored)
            self.sequence += 1

    # A sample at each address, of one thread, 10 us apart from 1 us on.
    def add_ips(self, ips, period, event=0, pid=1000):
        for first in range(0, len(ips), SAMPLES_MAX):
            part = ips[first:first + SAMPLES_MAX]
            table = sorted(set(part))
            of = {ip: i for i, ip in enumerate(table)}
            self.add(SAMPLES, samples(len(part), [
                (1, 2, deltas(1000 + 10**4 * i for i in range(len(part)))), (2, 3, leb(pid)), (3, 3, leb(pid)),
                (5, 4, leb(len(table)) + deltas(table) + b"".join(leb(of[ip]) for ip in part)), (7, 3, leb(period))], event))

    def write(self, path):
        self.add(END, record("END", 0, 0, 0, 0, 0))
        data = b"".join(self.parts)
        open(path, "wb").write(data)
        return len(data)
