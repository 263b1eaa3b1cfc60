#!/bin/bash
# SPDX-License-Identifier: MIT
# A store that reaches its cap loses the functions of its oldest epochs, then the oldest epochs, and no more than that; names that nothing
# uses go with them, at the first try.  (tests/long/store-keeps-its-cap.sh has more kinds of stores.)  A reader that is in the way delays
# that, and what another process writes is waited for, then said.
. tests/live/begin.bash
judge /usr/bin/python3 - "$B" "$dir" <<'END'
import os, shutil, sqlite3, subprocess, sys
sys.path.insert(0, "tests")
from store_caps import Judge, read_epochs, taken, unused_names
judge = Judge(*sys.argv[1:])
judge.matrix(["a program with a JIT"], (0.7,), ("gc", "watch"))
judge.matrix(["many programs"], (0.4,), ("add",))
judge.matrix(["a giant epoch, the newest"], (0.4,), ("gc",))

# By a link to the store, the log beside the store is the one that is bounded.
whole, store, link = judge.make("a program with a JIT"), f"{judge.folder}/s.tlrs", f"{judge.folder}/link.tlrs"
os.symlink(store, link)
sizes = []
for name in store, link:
    shutil.copyfile(whole, store)
    db = sqlite3.connect(store)
    db.execute("INSERT OR REPLACE INTO meta VALUES('cap', ?)", (os.path.getsize(whole) * 4 // 10,))
    db.commit()
    db.close()
    r = subprocess.run([judge.tailor, "db", "gc", name], capture_output=True, text=True)
    sizes.append((os.path.getsize(store), r.returncode, r.stderr))
if sizes[0] != sizes[1]:
    judge.fail(f"expected gc to do the same by a link, got {sizes}")
os.remove(link)

# What gc foresees, it does not do, and then does: about.
whole, store = judge.make("many queries"), f"{judge.folder}/s.tlrs"
shutil.copyfile(whole, store)
bytes_before = open(store, "rb").read()
foreseen = subprocess.run([judge.tailor, "db", "gc", "--dry-run", "--cap", "2", store], capture_output=True, text=True)
if foreseen.returncode or open(store, "rb").read() != bytes_before:
    judge.fail(f"expected gc --dry-run to change nothing, got exit {foreseen.returncode}: {foreseen.stdout}{foreseen.stderr}")
said = [int(words.split()[0]) for words in foreseen.stdout.split("; ")[1:]]

# A reader in the way: no failure, and the next try does it.
reader = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
reader.execute("BEGIN")
reader.execute("SELECT count(*) FROM epoch").fetchone()
r = subprocess.run([judge.tailor, "db", "gc", "--cap", "2", store], capture_output=True, text=True)
if r.returncode or "another process reads it" not in r.stderr:
    judge.fail(f"expected a reader in the way to be said, got exit {r.returncode}: {r.stdout}{r.stderr}")
reader.close()
r = subprocess.run([judge.tailor, "db", "gc", "--cap", "2", store], capture_output=True, text=True)
if r.returncode or r.stderr or taken(store) > 2 << 20 or unused_names(store):
    judge.fail(f"expected the cap without the reader, got {taken(store)} bytes, exit {r.returncode}: {r.stderr}, {unused_names(store)}")
epochs = read_epochs(store)
gone = len(read_epochs(whole)) - len(epochs)
did = [sum(e[3] is None for e in epochs) + gone, gone]
if len(said) != 2 or any(abs(a - b) > 25 for a, b in zip(said, did)):
    judge.fail(f"expected about {did} epochs to be foreseen, got {said}: {foreseen.stdout}")

# Another process that writes.
writer = sqlite3.connect(store)
writer.execute("BEGIN IMMEDIATE")
r = subprocess.run([judge.tailor, "db", "gc", "--cap", "1", store], capture_output=True, text=True)
if r.returncode != 1 or "another process writes to it" not in r.stderr:
    judge.fail(f"expected another writer to be said, got exit {r.returncode}: {r.stdout}{r.stderr}")
writer.rollback()
writer.close()
r = subprocess.run([judge.tailor, "db", "gc", "--cap", "1", store], capture_output=True, text=True)
if r.returncode or r.stderr or not 0 < taken(store) <= 1 << 20:
    judge.fail(f"expected the cap without the writer, got {taken(store)} bytes, exit {r.returncode}: {r.stderr}")

# What went is said where the window begins before it, and not of a later one.
page = subprocess.run([judge.tailor, "db", "report", store], capture_output=True, text=True).stdout
if "To keep its cap, the store dropped " not in page:
    judge.fail(f"expected the report to say what went, got {page}")
page = subprocess.run([judge.tailor, "db", "report", f"{store}@-1m"], capture_output=True, text=True).stdout
if "To keep its cap, the store dropped " in page:
    judge.fail(f"expected nothing of what went in a window after that, got {page}")
r = subprocess.run([judge.tailor, "db", "report", "--dry-run", store], capture_output=True, text=True)
if r.returncode not in (2, 64):
    judge.fail(f"expected --dry-run to be refused beside report, got exit {r.returncode}")
judge.month(20, 600, 1)
sys.exit(judge.bad)
END
finish
