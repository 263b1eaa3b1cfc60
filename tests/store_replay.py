# SPDX-License-Identifier: MIT
# Stores as months would fill them, from a few real epochs: what a store has of these, resampled.  A store is read and written from its
# README alone (SQLite; columns of LEB128, zstd): what the analyzer's own code would get wrong in both directions is found.
import ctypes, json, math, os, random, sqlite3, subprocess, sys, time
sys.path.insert(0, "tests")
from trace_file import _zstd, compress, crc32c, leb

HOUR = 3600 * 10**9
SERIES, PLACES = 0, 1
COLUMNS = {SERIES: 3, PLACES: 3}
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def pack(part, rows):
    rows = sorted(rows)
    out = bytearray()
    for column in range(COLUMNS[part]):
        before = 0
        for row in rows:
            out += leb(row[column] - (before if column == 0 else 0))
            before = row[0]
    data = compress(bytes(out))
    return len(rows), len(out), crc32c(data), data


def unpack(part, rows, size, data):
    room = ctypes.create_string_buffer(size + 1)
    assert _zstd.ZSTD_decompress(room, size, data, len(data)) == size
    numbers, value, shift = [], 0, 0
    for byte in room.raw[:size]:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    columns = [numbers[c * rows:(c + 1) * rows] for c in range(COLUMNS[part])]
    for i in range(1, rows):
        columns[0][i] += columns[0][i - 1]
    return list(zip(*columns))


class Real:
    """Series of the first event that is sampled, over real epochs: shares of samples, and by how much these differ between epochs beyond
    sampling (standard deviation of the logarithm)."""
    def __init__(self, store, skip=2):
        db = sqlite3.connect(store)
        events = [e for e, name in db.execute("SELECT e.id, t.s FROM event e JOIN text t ON t.id = e.name") if name != "code loads"]
        of = {s: e for s, e in db.execute("SELECT id, event FROM series")}
        epochs = []
        for (epoch,) in list(db.execute("SELECT id FROM epoch ORDER BY begin_ns"))[skip:]:
            rows, size, data = db.execute("SELECT rows, bytes, data FROM block WHERE epoch = ? AND part = 0", (epoch,)).fetchone()
            epochs.append({s: n for s, n, w in unpack(SERIES, rows, size, data) if of[s] == events[0]})
        epochs = [e for e in epochs if sum(e.values()) >= 300]
        self.epochs, total = len(epochs), sum(sum(e.values()) for e in epochs)
        self.share, self.spread = {}, {}
        for s in {s for e in epochs for s in e}:
            counts = [(e.get(s, 0), sum(e.values())) for e in epochs]
            mean = sum(c for c, _ in counts) / total
            if mean < 0.001:
                continue
            logs = [math.log((c + 0.5) / (n - c + 0.5)) for c, n in counts]
            m = sum(logs) / len(logs)
            sampling = sum(1 / (c + 0.5) + 1 / (n - c + 0.5) for c, n in counts) / len(counts)
            between = sum((x - m)**2 for x in logs) / (len(logs) - 1) - sampling
            self.share[s], self.spread[s] = mean, math.sqrt(max(0, between))
        db.close()


class Replay:
    """A copy of a store, without its epochs, to which made ones are added."""
    def __init__(self, tailor, store, path):
        subprocess.run([tailor, "db", "copy", store, path], check=True)
        self.db = sqlite3.connect(path)
        self.db.execute("PRAGMA synchronous = OFF")
        for table in "epoch", "block", "reason", "loss", "folded":
            self.db.execute(f"DELETE FROM {table}")
        self.number = 0

    def text(self, s):
        found = self.db.execute("SELECT id FROM text WHERE s = ?", (s,)).fetchone()
        if found:
            return found[0]
        h = 14695981039346656037
        for byte in s.encode():
            h = (h ^ byte) * 1099511628211 & 2**64 - 1
        return self.db.execute("INSERT INTO text(hash, s) VALUES(?, ?)", (h - 2**64 if h >> 63 else h, s)).lastrowid

    def add(self, begin_ns, series, places=(), tier=1, length_ns=HOUR, parts=6):
        """series: (id, samples, weight); places: (id, samples)"""
        self.number += 1
        samples = sum(n for _, n, _ in series)
        epoch = self.db.execute("INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, lost, cpus, parts) "
                                "VALUES(1, ?, ?, ?, ?, ?, ?, ?, 0, 2, ?)", (self.number, tier, begin_ns, begin_ns + length_ns,
                                self.text("host"), samples, samples, parts)).lastrowid
        for part, rows in (SERIES, series), (PLACES, [(p, n, 0) for p, n in places]):
            self.db.execute("INSERT INTO block VALUES(?, ?, ?, ?, ?, ?)", (epoch, part, *pack(part, rows)))

    def close(self):
        self.db.commit()
        self.db.close()


def hour_of(share, spread, samples, rng, day_hour, epochs=6, factor=None):
    """Counts of an hour, as the sum of its epochs: each line's share is off by what real epochs' are, and what is counted is random.  The
    mix of lines changes over the day, in the same way each day."""
    counts = {s: 0 for s in share}
    for _ in range(epochs):
        now = {s: p * math.exp(rng.gauss(0, spread[s]) + 0.2 * math.sin(2 * math.pi * (day_hour / 24 + i / 7))) for i, (s, p) in
               enumerate(sorted(share.items()))}
        for s, f in (factor or {}).items():
            now[s] *= f
        total = sum(now.values())
        for s in now:
            mean = samples / epochs * now[s] / total
            counts[s] += max(0, round(rng.gauss(mean, math.sqrt(mean))))
    return counts


class Changes:
    """Replays of hours, and what `tailor db changes` says of them."""
    def __init__(self, tailor, store, folder, share, spread, samples):
        self.tailor, self.store, self.folder, self.share, self.spread, self.samples = tailor, store, folder, share, spread, samples
        self.now = 1_790_000_000 // 86400 * 86400 * 10**9

    def ask(self, hours, seed, last, factor=None, alter=None):
        """of the last hours of so many; factor: of lines, in the last three; alter: changes an hour's rows"""
        path, rng = f"{self.folder}/replay.tlrs", random.Random(seed)
        r = Replay(self.tailor, self.store, path)
        for h in range(hours):
            late = h >= hours - 3
            counts = hour_of(self.share, self.spread, self.samples, rng, h % 24, factor=factor if late else None)
            series, places = [(s, n, n * 10**6) for s, n in counts.items() if n], []
            if alter:
                alter(r, late, rng, series, places)
            r.add(self.now - (hours - h) * HOUR, series, places)
        r.close()
        begin, end = (self.utc(self.now - n * HOUR) for n in (last, 0))
        p = subprocess.run([self.tailor, "db", "changes", f"{path}@{begin}..{end}", "--json"], capture_output=True, text=True)
        os.remove(path)
        page = json.loads(p.stdout)
        assert p.returncode == (3 if page["found"] else 0), f"exit status {p.returncode}, {page['found']} changes: {p.stderr}"
        return page["hours"], page["tables"].get("changes", [])

    @staticmethod
    def utc(ns):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ns // 10**9))

    def flip(self, r, late, rng, series, places):
        """the plan of a query: most of its largest line is another operator's, which it never had"""
        if not r.db.execute("SELECT 1 FROM component WHERE query != 0").fetchone():
            query = r.db.execute("INSERT INTO query(text) VALUES(?)", (r.text("select ? from orders"),)).lastrowid
            r.db.execute("UPDATE component SET query = ?", (query,))
        if late:
            i = max((i for i in range(len(series)) if r.db.execute("SELECT component FROM series WHERE id = ?", (series[i][0],)).fetchone()[0]),
                    key=lambda i: series[i][1])
            s, n, _ = series[i]
            process, component, event = r.db.execute("SELECT process, component, event FROM series WHERE id = ?", (s,)).fetchone()
            name = r.text("nested loop")
            r.db.execute("INSERT OR IGNORE INTO component(level, name, place, detail, query, label) SELECT level, ?, place, 0, query, ? FROM "
                         "component WHERE id = ?", (name, name, component))
            new = r.db.execute("SELECT id FROM component WHERE name = ?", (name,)).fetchone()[0]
            r.db.execute("INSERT OR IGNORE INTO series(process, component, event) VALUES(?, ?, ?)", (process, new, event))
            of = r.db.execute("SELECT id FROM series WHERE component = ?", (new,)).fetchone()[0]
            series[i] = (s, n // 8, n // 8 * 10**6)
            series.append((of, n - n // 8, (n - n // 8) * 10**6))

    def storm(self, r, late, rng, series, places):
        """a function is compiled again and again; others at their usual rate"""
        db = r.db
        if not db.execute("SELECT 1 FROM event WHERE name = ?", (r.text("code loads"),)).fetchone():
            db.execute("INSERT INTO event(name, unit) VALUES(?, 0)", (r.text("code loads"),))
        process = db.execute("SELECT min(id) FROM process").fetchone()[0]
        event = db.execute("SELECT id FROM event WHERE name = ?", (r.text("code loads"),)).fetchone()[0]
        db.execute("INSERT OR IGNORE INTO series(process, component, event) VALUES(?, 0, ?)", (process, event))
        of = db.execute("SELECT id FROM series WHERE event = ? AND component = 0 AND process = ?", (event, process)).fetchone()[0]
        for i in range(20):
            name = r.text(f"compiled_{chr(97 + i)}")
            db.execute("INSERT OR IGNORE INTO function(name, image, jit) VALUES(?, 0, 1)", (name,))
            function = db.execute("SELECT id FROM function WHERE name = ?", (name,)).fetchone()[0]
            db.execute("INSERT OR IGNORE INTO place(series, function) VALUES(?, ?)", (of, function))
            place = db.execute("SELECT id FROM place WHERE series = ? AND function = ?", (of, function)).fetchone()[0]
            loads = max(1, round(rng.gauss(10 + 2 * i, 4))) + (400 if late and i == 7 else 0)
            places.append((place, loads))
        series.append((of, sum(n for _, n in places), sum(n for _, n in places)))

    def judge(self, expect, least_small=6):
        """least_small: of ten changes by 5 %, which are found where epochs differ little"""
        hours, found = self.ask(29 * 24 + 24 * 8, 1, 30 * 24 + 2)
        expect(hours >= 720 and not found, f"expected nothing in 720 quiet hours, got in {hours}: {found}")
        line = min(self.share, key=lambda s: abs(self.share[s] - 0.1))
        figures = [f"{len(found)} alarms in {hours} quiet hours of {self.samples} samples"]
        for factor, least in (1.2, 10), (1.05, least_small):
            hits = [self.ask(9 * 24, 100 + seed, 5, {line: factor})[1] for seed in range(10)]
            hit = sum(len(h) == 1 and h[0]["kind"] == "share" and h[0]["begin_ns"] >= self.now - 3 * HOUR for h in hits)
            expect(hit >= least, f"expected at least {least} of 10 changes of a line of {100 * self.share[line]:.0f} % by {factor} alone, got {hits}")
            figures.append(f"{hit} of 10 at x{factor}")
        _, found = self.ask(9 * 24, 7, 5, None, self.flip)
        expect(any(c["kind"] == "plan" and "nested loop" in c["detail"] and c["begin_ns"] == self.now - 3 * HOUR for c in found),
               f"expected a plan flip, got {found}")
        _, found = self.ask(9 * 24, 8, 5, None, self.storm)
        expect([(c["kind"], c["name"]) for c in found] == [("compilation", "compiled_h")], f"expected a recompilation storm alone, got {found}")
        print("FIGURE", *figures, sep="; ")
